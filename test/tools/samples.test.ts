// Runs the code that readers copy, in each of its languages: the samples of the reference, and those that sign a token
// and verify a delivery, in the introduction and in docs/guides/languages.md. They are unchanged but for the port.
import { createHmac, randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest';
import { forReaders, parseContract } from '../../scripts/docs/contract.ts';
import { missingFor, runCode } from '../support/languages.ts';
import { root } from '../support/processes.ts';
import { startReceiver, type Got } from '../support/receiver.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { storeCard, subscribe } from '../support/webhooks.ts';

let service: TestService;
let guides: string;
let folder: string;
beforeAll(async () => {
  service = await startTestService();
  const files = ['openapi/introduction.md', 'docs/guides/languages.md'];
  guides = (await Promise.all(files.map((file) => readFile(join(root, file), 'utf8')))).join('\n');
  folder = await mkdtemp(join(tmpdir(), 'samples-'));
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'), 'dir');
  await symlink(service.config.dataDir, join(folder, '.data'), 'dir');
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const write = (file: string, code: string) =>
  writeFile(
    join(folder, file),
    code
      .replaceAll('http://127.0.0.1:8080', service.url)
      .replace("'payments-service-client'", JSON.stringify(join(root, 'client/index.ts'))),
  );

async function outputOf(files: string[], { skip }: Pick<TestContext, 'skip'>): Promise<string> {
  const missing = missingFor(files);
  skip(missing !== undefined, `Not installed: ${missing}`);
  const env = { TOKEN: service.token('*.read', '*.write') };
  const { status, stdout, output } = await runCode(files, { cwd: folder, env });
  expect(status, output).toBe(0);
  return stdout;
}

describe('the samples of the reference', () => {
  const endings = { curl: 'sh', TypeScript: 'mts', JavaScript: 'mjs', Python: 'py', PHP: 'php', Go: 'go' };
  // CI does not install these.
  const others = Object.entries({ Ruby: 'rb', Java: 'java', 'C#': 'cs' }).filter(
    ([, ending]) => missingFor([`sample.${ending}`]) === undefined,
  );
  it.for([...Object.entries(endings), ...others])(
    'call the service in %s',
    async ([lang, ending], context) => {
      const contract = parseContract(await readFile(join(root, 'generated/openapi.json'), 'utf8'));
      const { paths } = forReaders(contract);
      for (const [operation, answer] of [
        [paths['/transactions']?.get, /type\W+transaction\W/],
        [paths['/payment-methods']?.post, /status\W+succeeded\W/],
      ] as const) {
        const { source = '' } = operation?.['x-codeSamples']?.find((sample) => sample.lang === lang) ?? {};
        const file = `${operation?.operationId}.${ending}`;
        await write(file, source);
        const output = await outputOf([file], context);
        expect(answer.test(output), output.slice(0, 1_000)).toBe(true);
      }
    },
  );
});

describe('the guides', () => {
  const languages = { ts: 'mts', python: 'py', php: 'php', go: 'go' };

  /** The first in a section. Both files have a section of the same name. */
  function codeOf(heading: string, language: string): string {
    const sections = guides.split(/^(?=## )/m).filter((one) => one.startsWith(`## ${heading}\n`));
    const [, code = ''] = new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'ms').exec(sections.join('')) ?? [];
    expect(code).not.toBe('');
    return code;
  }

  const namesIn = (json: string) => Object.keys(JSON.parse(json) as object).sort();

  it.for(Object.entries(languages))(
    'signs a token in %s, which the service accepts',
    async ([language, ending], context) => {
      const file = `sign.${ending}`;
      await write(file, codeOf('Signing a token', language));
      const token = (await outputOf([file], context)).trim();
      expect(await service.call('GET', '/transactions', { token })).toMatchObject({ status: 200 });
      const [header = '', claims = ''] = token
        .split('.')
        .map((part) => Buffer.from(part, 'base64url').toString());
      // With what the text says it has.
      const [, shown = ''] = /```json\n(\{ "alg".*?)```/s.exec(guides) ?? [];
      expect([namesIn(header), namesIn(claims)]).toEqual([namesIn(shown), namesIn(codeOf('Claims', 'json'))]);
    },
  );

  /** Programs that verify the deliveries in a file. */
  const programs: Record<string, string> = {
    ts: `import { readFileSync } from 'node:fs';
import { isGenuine } from './verify.mts';
const { secret, deliveries } = JSON.parse(readFileSync('deliveries.json', 'utf8'));
console.log(JSON.stringify(deliveries.map(({ headers, body }) => isGenuine(headers, Buffer.from(body), secret))));`,
    python: `import json
from verify import is_genuine
given = json.load(open("deliveries.json"))
print(json.dumps([is_genuine(one["headers"], one["body"].encode(), given["secret"]) for one in given["deliveries"]]))`,
    php: `<?php
require 'verify.php';
$given = json_decode(file_get_contents('deliveries.json'), true);
echo json_encode(array_map(fn ($one) => isGenuine($one['headers'], $one['body'], $given['secret']), $given['deliveries']));`,
    go: `package main
import ("encoding/json"; "fmt"; "net/http"; "os")
func main() {
	var given struct { Secret string; Deliveries []struct { Headers map[string]string; Body string } }
	file, _ := os.ReadFile("deliveries.json")
	json.Unmarshal(file, &given)
	verdicts := []bool{}
	for _, one := range given.Deliveries {
		header := http.Header{}
		for name, value := range one.Headers { header.Set(name, value) }
		verdicts = append(verdicts, isGenuine(header, []byte(one.Body), given.Secret))
	}
	text, _ := json.Marshal(verdicts)
	fmt.Println(string(text))
}`,
  };

  let deliveries: { name: string; headers: object; body: string; isGenuine: boolean }[];
  beforeAll(async () => {
    await using receiver = await startReceiver();
    const { secret } = await subscribe(service, receiver.url);
    await storeCard(service);
    await receiver.received(1);
    const [{ headers = {}, body = '' } = {}] = receiver.got as Partial<Got>[];
    const id = String(headers['webhook-id']);
    const now = Number(headers['webhook-timestamp']);
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
    const sign = (time: number, by = key) =>
      `v1,${createHmac('sha256', by).update(`${id}.${time}.${body}`).digest('base64')}`;
    const signed = (signature: string, time: unknown = now) => ({
      'webhook-id': id,
      'webhook-timestamp': String(time),
      'webhook-signature': signature,
    });
    const without = (name: string) => ({ ...signed(sign(now)), [name]: undefined });
    const forged = sign(now, randomBytes(24));
    const refused = { isGenuine: false, body };
    deliveries = [
      { name: 'genuine', headers, body, isGenuine: true },
      {
        name: 'with one right signature of two',
        headers: signed(`${forged} ${sign(now)}`),
        body,
        isGenuine: true,
      },
      { name: 'changed', headers, isGenuine: false, body: body.replace('succeeded', 'processing') },
      { name: 'forged', headers: signed(forged), ...refused },
      { name: 'with a signature that is not ASCII', headers: signed('v1,é'), ...refused },
      { name: 'old', headers: signed(sign(now - 400), now - 400), ...refused },
      { name: 'of the future', headers: signed(sign(now + 400), now + 400), ...refused },
      { name: 'of no time', headers: signed(sign(now), 'now'), ...refused },
      // A request without the headers is refused, instead of failing.
      { name: 'without an ID', headers: without('webhook-id'), ...refused },
      { name: 'without a time', headers: without('webhook-timestamp'), ...refused },
      { name: 'without a signature', headers: without('webhook-signature'), ...refused },
    ];
    await write('deliveries.json', JSON.stringify({ secret, deliveries }));
  });

  it.for(Object.entries(languages))('verifies a delivery in %s', async ([language, ending], context) => {
    await write(`verify.${ending}`, codeOf('Checking a signature', language));
    await write(`main.${ending}`, programs[language] ?? '');
    const files = language === 'go' ? ['main.go', 'verify.go'] : [`main.${ending}`];
    const verdicts = JSON.parse(await outputOf(files, context)) as boolean[];
    const named = deliveries.map(({ name }, at) => ({ name, isGenuine: verdicts[at] }));
    expect(named).toEqual(deliveries.map(({ name, isGenuine }) => ({ name, isGenuine })));
  });
});
