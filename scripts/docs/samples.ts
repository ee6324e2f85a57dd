// Code that calls an operation, in the languages that integrators use: TypeScript with our client, the others made by
// httpsnippet. Each reads the token from the environment, so that it runs as it is copied.
import { HTTPSnippet } from '@readme/httpsnippet';
import { packageName, programName } from '../../generated/operations.ts';
import { replaceOnce } from './replace-once.ts';

export interface Call {
  method: string;
  server: string;
  path: string;
  /** The parameters of the path. */
  ids: [name: string, example: string][];
  /** Of a list that has pages. */
  hasPages: boolean;
  filter: { name: string; example: unknown } | undefined;
  body: unknown;
  /** Whether it takes an Idempotency-Key. The client makes one itself. */
  takesKey: boolean;
}

type Edit = [from: string, to: string];

interface Language {
  lang: string;
  /** Of httpsnippet. */
  target: Parameters<HTTPSnippet['convert']>[0];
  client: string;
  options?: object;
  token: Edit[];
  /** Ends the program if the service refuses the request, with what it says. */
  status?: Edit[];
  /** Where the operation takes an Idempotency-Key. */
  key: Edit[];
  /** A text of several lines, where httpsnippet writes a body into one. */
  literal?: (text: string) => string;
  /** Makes a program of statements. */
  program?: (code: string) => string;
}

/** In the order of the menu, in which TypeScript is the second. */
const languages: Language[] = [
  {
    lang: 'curl',
    target: 'shell',
    client: 'curl',
    options: { short: true },
    token: [["'Authorization: Bearer $TOKEN'", '"Authorization: Bearer $TOKEN"']],
    key: [["'Idempotency-Key: $KEY'", '"Idempotency-Key: $(openssl rand -hex 16)"']],
  },
  {
    lang: 'JavaScript',
    target: 'javascript',
    client: 'fetch',
    token: [["'Bearer $TOKEN'", '`Bearer ${process.env.TOKEN}`']],
    status: [
      [
        '.then(response => response.json())',
        `.then(async response => {
    if (!response.ok) throw new Error(\`\${response.status}: \${await response.text()}\`);
    return response.json();
  })`,
      ],
      // Node.js prints it, and ends the program.
      ['\n  .catch(err => console.error(err))', ''],
    ],
    key: [["'$KEY'", 'crypto.randomUUID()']],
  },
  {
    lang: 'Python',
    target: 'python',
    client: 'requests',
    token: [
      ['import requests', 'import os\n\nimport requests'],
      ['"Bearer $TOKEN"', `"Bearer " + os.environ["TOKEN"]`],
    ],
    status: [
      [
        'print(response.text)',
        `if not response.ok:
    raise SystemExit(f"{response.status_code}: {response.text}")

print(response.text)`,
      ],
    ],
    key: [['"$KEY"', 'os.urandom(16).hex()']],
  },
  {
    lang: 'PHP',
    target: 'php',
    client: 'curl',
    token: [
      ['<?php\n', "<?php\n// Needs PHP's extension curl (Debian: php-curl).\n"],
      ['Bearer $TOKEN"', 'Bearer " . getenv("TOKEN")'],
    ],
    status: [
      [
        '$err = curl_error($curl);',
        '$err = curl_error($curl);\n$status = curl_getinfo($curl, CURLINFO_RESPONSE_CODE);',
      ],
      [
        '  echo "cURL Error #:" . $err;\n',
        '  fwrite(STDERR, "cURL Error #:" . $err);\n  exit(1);\n} elseif ($status >= 300) {\n  fwrite(STDERR, "$status: $response");\n  exit(1);\n',
      ],
    ],
    key: [['$KEY"', '" . bin2hex(random_bytes(16))']],
  },
  {
    lang: 'Ruby',
    target: 'ruby',
    client: 'native',
    token: [["'Bearer $TOKEN'", '"Bearer #{ENV[\'TOKEN\']}"']],
    key: [
      ["require 'uri'", "require 'securerandom'\nrequire 'uri'"],
      ["'$KEY'", 'SecureRandom.uuid'],
    ],
    status: [
      [
        'puts response.read_body',
        'abort "#{response.code}: #{response.body}" unless response.is_a?(Net::HTTPSuccess)\nputs response.body',
      ],
    ],
    literal: (text) => `<<~'JSON'\n${text}\nJSON`,
  },
  {
    lang: 'Go',
    target: 'go',
    client: 'native',
    options: { checkErrors: true },
    token: [
      ['\t"io"\n', '\t"io"\n\t"os"\n'],
      ['"Bearer $TOKEN"', '"Bearer "+os.Getenv("TOKEN")'],
    ],
    status: [
      [
        '\tfmt.Println(string(body))\n',
        '\tif res.StatusCode >= 300 {\n\t\tpanic(res.Status + ": " + string(body))\n\t}\n\n\tfmt.Println(string(body))\n',
      ],
    ],
    key: [
      ['\t"fmt"\n', '\t"crypto/rand"\n\t"fmt"\n'],
      ['\treq.Header.Add("Idem', '\tkey := make([]byte, 16)\n\trand.Read(key)\n\treq.Header.Add("Idem'],
      ['"$KEY"', 'fmt.Sprintf("%x", key)'],
    ],
    literal: (text) => `\`${text}\``,
  },
  {
    lang: 'Java',
    target: 'java',
    client: 'nethttp',
    token: [['"Bearer $TOKEN"', '"Bearer " + System.getenv("TOKEN")']],
    status: [
      [
        'System.out.println(response.body());',
        `if (response.statusCode() >= 300)
    throw new RuntimeException(response.statusCode() + ": " + response.body());
System.out.println(response.body());`,
      ],
    ],
    key: [['"$KEY"', 'java.util.UUID.randomUUID().toString()']],
    literal: (text) => `"""\n${text.replaceAll('\\', '\\\\')}"""`,
    program: (code) => `// Save as Sample.java, run: java Sample.java
import java.net.URI;
import java.net.http.*;

class Sample {
  public static void main(String[] args) throws Exception {
${code.replaceAll(/^(?=.)/gm, '    ')}
  }
}`,
  },
  {
    lang: 'C#',
    target: 'csharp',
    client: 'httpclient',
    token: [['"Bearer $TOKEN"', '"Bearer " + Environment.GetEnvironmentVariable("TOKEN")']],
    key: [['"$KEY"', 'Guid.NewGuid().ToString()']],
    literal: (text) => `"""\n${text}\n"""`,
  },
];

/** TypeScript stands after curl. */
const withOwn = <T>(others: T[], own: T): T[] => others.toSpliced(1, 0, own);

export const sampleLanguages = withOwn(
  languages.map(({ lang }) => lang),
  'TypeScript',
);

export const samplesOf = (call: Call): { lang: string; source: string }[] =>
  withOwn(
    languages.map((language) => ({ lang: language.lang, source: written(language, call) })),
    { lang: 'TypeScript', source: typeScript(call) },
  );

/** Replaced at the end, because some languages write the port of an address twice, and readers' servers have another. */
const anyServer = 'http://server';

function written(language: Language, call: Call): string {
  const { target, client, options, token, status = [], key, literal, program = (code) => code } = language;
  const { method, server, filter, body, takesKey } = call;
  const path = call.ids.reduce((text, [name, id]) => text.replace(`{${name}}`, id), call.path);
  const query = filter ? `?${filter.name}=${encodeURIComponent(String(filter.example))}` : '';
  const header = (name: string, value: string) => ({ name, value });
  const request = {
    method,
    url: anyServer + path + query,
    headers: [
      header('Authorization', 'Bearer $TOKEN'),
      ...(takesKey ? [header('Idempotency-Key', '$KEY')] : []),
      ...(body === undefined ? [] : [header('Content-Type', 'application/json')]),
    ],
    ...(body === undefined ? {} : { postData: { mimeType: 'application/json', text: JSON.stringify(body) } }),
  };
  const [code] = new HTTPSnippet(request as never).convert(target, client, options) || [];
  const edits = [...token, ...status, ...(takesKey ? key : [])];
  if (literal && body !== undefined)
    edits.push([JSON.stringify(JSON.stringify(body)), literal(JSON.stringify(body, null, 2))]);
  const edited = edits.reduce((text, [from, to]) => replaceOnce(text, from, to), code ?? '');
  return program(edited).replaceAll(anyServer, server);
}

/** As client/ calls it. */
const createClient = `create${programName.replace(/^./, (first) => first.toUpperCase())}Client`;

function typeScript({ method, server, path, ids, hasPages, filter, body }: Call): string {
  const imported = hasPages ? createClient : `${createClient}, unwrap`;
  const named = ids.map(([name, id]) => `${name}: ${JSON.stringify(id)}`).join(', ');
  const inPath = named === '' ? [] : [`path: { ${named} }`];
  const given = [
    ...inPath.map((text) => `params: { ${text} }`),
    ...(body === undefined ? [] : [`body: ${JSON.stringify(body, null, 2)}`]),
  ].join(', ');
  const code = hasPages
    ? loop(path, inPath, filter)
    : `console.log(unwrap(await client.${method}('${path}'${given === '' ? '' : `, { ${given} }`})));`;
  return `// Install once: curl -fOJ http://127.0.0.1:8080/client.tgz && npm install ./${packageName}-client-*.tgz
// Save as sample.mts, run: npx tsx sample.mts
import { ${imported} } from '${packageName}-client';

const client = ${createClient}({
  baseUrl: '${server}',
  token: process.env.TOKEN ?? '',
});
${code}`;
}

function loop(path: string, inPath: string[], filter: Call['filter']): string {
  const query = filter ? [`query: { ${filter.name}: ${JSON.stringify(filter.example)} }`] : [];
  const params = [...inPath, ...query].join(', ');
  const options = params === '' ? '' : `, {\n  params: { ${params} },\n}`;
  return `// All pages, each fetched when it is needed.
const items = client.paginate('${path}'${options});
for await (const item of items) console.log(item);`;
}
