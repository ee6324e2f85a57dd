// The copy of the contract that the reference shows: with commands to paste, without what only a validator needs. The
// contract that readers download stays unchanged.
import { clientCode, printed } from './browser/client-code.ts';

export interface Schema {
  description?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
}

interface Example {
  summary?: string;
  value?: unknown;
  $ref?: string;
}

interface Parameter {
  name?: string;
  in?: string;
  example?: unknown;
  $ref?: string;
}

export interface Operation {
  operationId: string;
  tags: [string];
  summary: string;
  description?: string;
  security?: Record<string, string[]>[];
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { examples?: Record<string, Example> }> };
  responses?: Record<string, unknown>;
  'x-deprecation'?: { since: string; sunset: string };
  'x-codeSamples'?: { lang: string; source: string }[];
}

export interface Contract {
  info: { title: string; summary: string; description: string; version: string };
  servers: { url: string }[];
  tags: { name: string }[];
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, Record<string, Operation>>;
  components?: { examples?: Record<string, Example>; parameters?: Record<string, Parameter> };
}

/** Not validated here: `npm run generate` lints the contract before it writes the bundle. */
export const parseContract = (text: string) => JSON.parse(text) as Contract;

export function forReaders(contract: Contract): Contract {
  const shown = withoutValidation(contract) as Contract;
  shown.info.description = '';
  for (const [path, item] of Object.entries(shown.paths))
    for (const [method, operation] of Object.entries(item)) {
      operation['x-codeSamples'] = samples(contract, method, path, operation);
      operation.description = `${tryIt(operation)}\n\n${deprecated(operation)}${operation.description ?? ''}`;
    }
  return shown;
}

const deprecated = ({ 'x-deprecation': dates }: Operation) =>
  dates === undefined ? '' : `**Deprecated since ${dates.since}, removed after ${dates.sunset}.**\n\n`;

/** Hidden where there is no console: see style.css and server/http/docs.ts. */
const tryIt = ({ operationId }: Operation) => `[Try it in the console](../console/#${operationId})`;

/** Without patterns that say "no control characters" or check a URL, and without the limits of JavaScript's numbers. */
function withoutValidation(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withoutValidation);
  if (node === null || typeof node !== 'object') return node;
  return Object.fromEntries(
    Object.entries(node)
      .filter(([key, value]) => !isForValidators(key, value))
      .map(([key, value]) => [key, withoutValidation(value)]),
  );
}

const isForValidators = (key: string, value: unknown) =>
  (key === 'pattern' && typeof value === 'string' && (/\\u0000|\[ -~\]/.test(value) || value.length > 60)) ||
  ((key === 'maximum' || key === 'minimum') && Math.abs(Number(value)) === Number.MAX_SAFE_INTEGER);

/** With the first example of the body, which is the one that succeeds, or the first filter of a list that has an example. */
function samples(
  contract: Contract,
  method: string,
  path: string,
  { requestBody, parameters = [] }: Operation,
) {
  const [first] = Object.values(requestBody?.content['application/json']?.examples ?? {});
  const body = first && resolved(contract.components?.examples, first).value;
  // The local server is the only URL without variables, so the samples work unedited.
  const server = contract.servers.find(({ url }) => !url.includes('{'))?.url ?? '';
  const named = parameters.map((one) => resolved(contract.components?.parameters, one));
  const takesKey = named.some(({ name }) => name === 'Idempotency-Key');
  const hasPages = named.some(({ name }) => name === 'cursor');
  const filter = named.find((one) => hasPages && one.in === 'query' && one.example !== undefined);
  const query = filter ? `?${filter.name}=${encodeURIComponent(String(filter.example))}` : '';
  const call = { method: method.toUpperCase(), url: server + path + query, path, body, takesKey };
  return [
    { lang: 'curl', source: curl(call) },
    { lang: 'TypeScript', source: clientCode(server, hasPages ? loop(path, filter) : single(call)) },
    { lang: 'Python', source: python(call) },
  ];
}

interface Call {
  method: string;
  url: string;
  path: string;
  body: unknown;
  /** Whether it takes an Idempotency-Key. The client makes one itself. */
  takesKey: boolean;
}

const resolved = <T extends { $ref?: string }>(components: Record<string, T> | undefined, given: T): T =>
  components?.[given.$ref?.split('/').at(-1) ?? ''] ?? given;

function curl({ method, url, body, takesKey }: Call): string {
  const lines = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}'${url}'`,
    '-H "Authorization: Bearer $TOKEN"',
  ];
  if (takesKey) lines.push('-H "Idempotency-Key: $(openssl rand -hex 16)"');
  if (body !== undefined) {
    const text = JSON.stringify(body, null, 2).replaceAll("'", String.raw`'\''`);
    lines.push("-H 'Content-Type: application/json'", `-d '${text}'`);
  }
  return lines.join(' \\\n  ');
}

const single = ({ method, path, body }: Call) =>
  printed(`${method}('${path}'${body === undefined ? '' : `, { body: ${JSON.stringify(body, null, 2)} }`})`);

function loop(path: string, filter: Parameter | undefined): string {
  const options = filter
    ? `, {\n  params: { query: { ${filter.name}: ${JSON.stringify(filter.example)} } },\n}`
    : '';
  return `// All pages, each fetched when it is needed.
const items = client.paginate('${path}'${options});
for await (const item of items) console.log(item);`;
}

/** With its standard library. JSON is Python but for its constants. */
const python = ({
  method,
  url,
  body,
  takesKey,
}: Call) => `import json, os, urllib.request${takesKey ? ', uuid' : ''}

request = urllib.request.Request(
    "${url}",
    method="${method}",
    headers={"Authorization": f"Bearer {os.environ['TOKEN']}"},
)
${takesKey ? 'request.add_header("Idempotency-Key", str(uuid.uuid4()))\n' : ''}${body === undefined ? '' : `request.add_header("Content-Type", "application/json")\nrequest.data = json.dumps(${literal(body)}).encode()\n`}try:
    with urllib.request.urlopen(request) as response:
        print(json.load(response))
except urllib.error.HTTPError as error:
    raise SystemExit(f"{error.code} {error.read().decode()}")`;

const constants: Record<string, string> = { null: 'None', true: 'True', false: 'False' };
const literal = (value: unknown) =>
  JSON.stringify(value, null, 4).replaceAll(
    /("(?:[^"\\]|\\.)*")|\b(null|true|false)\b/g,
    (_, text: string | undefined, word = '') => text ?? constants[word as string] ?? '',
  );
