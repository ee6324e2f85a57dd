// Runs the code that readers copy, in each of its languages: the samples of the reference, and those of the introduction and of
// docs/guides/languages.md. They are unchanged but for the port.
import { createHmac, randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { forReaders, parseContract } from '../../../scripts/docs/contract.ts';
import { readGuides } from '../../../scripts/docs/guides.ts';
import { eventually } from '../../support/data-dir.ts';
import { paymentsHere } from '../../support/in-process.ts';
import { missingFor, runCode } from '../../support/languages.ts';
import { freePort, isListening } from '../../support/ports.ts';
import { root, run, startCommand } from '../../support/processes.ts';
import { startReceiver, type Got } from '../../support/receiver.ts';
import { noSecrets, startTestService, type TestService } from '../../support/service.ts';
import { hasty, storeCard, subscribe } from '../../support/webhooks.ts';

let service: TestService;
let guides: string;
let folder: string;
beforeAll(async () => {
  service = await startTestService({ config: { secrets: noSecrets }, webhooks: hasty });
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

/** The code of a section, up to the next heading. Both files have sections of the same name. */
function codesOf(heading: string, language: string): string[] {
  const sections = guides.split(/^(?=#+ )/m).filter((one) => one.startsWith(`${heading}\n`));
  const codes = [...sections.join('').matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)]
    .filter(([, name]) => name === language)
    .map(([, , code = '']) => code.replaceAll('http://127.0.0.1:8080', service.url));
  expect(codes, heading).not.toEqual([]);
  return codes;
}
const codeOf = (heading: string, language: string) => codesOf(heading, language)[0] ?? '';

const write = (file: string, code: string) =>
  writeFile(
    join(folder, file),
    code
      .replaceAll('http://127.0.0.1:8080', service.url)
      .replace("'payments-service-client'", JSON.stringify(join(root, 'client/index.ts'))),
  );

/** Of languages, by the endings of their files: those whose programs are here. The nightly run has all that the guides name. */
const installed = (endings: Record<string, string>) =>
  Object.entries(endings).filter(([, ending]) => missingFor([`file.${ending}`]) === undefined);

async function outputOf(files: string[]): Promise<string> {
  const env = { TOKEN: service.token('*.read', '*.write') };
  const { status, stdout, output } = await runCode(files, { cwd: folder, env });
  expect(status, output).toBe(0);
  return stdout;
}

describe('the samples of the reference', () => {
  const endings = { curl: 'sh', TypeScript: 'mts', JavaScript: 'mjs', Python: 'py', PHP: 'php', Go: 'go' };
  const others = { Ruby: 'rb', Java: 'java', 'C#': 'cs' };
  const all = installed({ ...endings, ...others });
  const sampleOf = async (path: string, method: string, lang: string) => {
    const contract = parseContract(await readFile(join(root, 'generated/openapi.json'), 'utf8'));
    const { 'x-codeSamples': samples = [] } = forReaders(contract).paths[path]?.[method] ?? {};
    return samples.find((sample) => sample.lang === lang)?.source ?? '';
  };

  it.for(all)('call the service in %s', async ([lang, ending]) => {
    for (const [path, method, answer] of [
      ['/transactions', 'get', /type\W+transaction\W/],
      ['/payment-methods', 'post', /status\W+succeeded\W/],
    ] as const) {
      const file = `${method}.${ending}`;
      await write(file, await sampleOf(path, method, lang));
      const output = await outputOf([file]);
      expect(answer.test(output), output.slice(0, 1_000)).toBe(true);
    }
  });

  // curl prints what the service says, and its users look at it.
  it.for(all.filter(([lang]) => lang !== 'curl'))(
    'end with an error when the service refuses, in %s',
    async ([lang, ending]) => {
      const file = `refused.${ending}`;
      await write(file, await sampleOf('/transactions', 'get', lang));
      const { status, stdout, output } = await runCode([file], { cwd: folder, env: { TOKEN: 'wrong' } });
      expect([status === 0, stdout]).toEqual([false, '']);
      expect(output).toContain('401');
    },
  );
});

const languages = { ts: 'mts', python: 'py', php: 'php', go: 'go' };

describe('the guides', () => {
  const namesIn = (json: string) => Object.keys(JSON.parse(json) as object).sort();

  it.for(installed(languages))(
    'signs a token in %s, which the service accepts',
    async ([language, ending]) => {
      const file = `sign.${ending}`;
      await write(file, codeOf('## Signing a token', language));
      const token = (await outputOf([file])).trim();
      expect(await service.call('GET', '/transactions', { token })).toMatchObject({ status: 200 });
      const [header = '', claims = ''] = token
        .split('.')
        .map((part) => Buffer.from(part, 'base64url').toString());
      // With what the text says it has.
      const [, shown = ''] = /```json\n(\{ "alg".*?)```/s.exec(guides) ?? [];
      expect([namesIn(header), namesIn(claims)]).toEqual([
        namesIn(shown),
        namesIn(codeOf('## Claims', 'json')),
      ]);
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

  it.for(installed(languages))('verifies a delivery in %s', async ([language, ending]) => {
    await write(`verify.${ending}`, codeOf('## Checking a signature', language));
    await write(`main.${ending}`, programs[language] ?? '');
    const files = language === 'go' ? ['main.go', 'verify.go'] : [`main.${ending}`];
    const verdicts = JSON.parse(await outputOf(files)) as boolean[];
    const named = deliveries.map(({ name }, at) => ({ name, isGenuine: verdicts[at] }));
    expect(named).toEqual(deliveries.map(({ name, isGenuine }) => ({ name, isGenuine })));
  });
});

const calls = (heading: string) =>
  [
    ...codesOf(heading, 'sh')
      .join('')
      .matchAll(/^npm run -s payments -- (.+)$/gm),
  ].map(([, call = '']) => call);
async function payments(call: string): Promise<string> {
  const env = { DATABASE_URL: service.config.databaseUrl, DATA_DIR: service.config.dataDir };
  const { status, stdout, stderr } = await paymentsHere(call.split(' '), env);
  expect(status, `${call}: ${stderr}`).toBe(0);
  return stdout;
}

describe('the introduction', () => {
  it.each([
    ['# Pages', 2],
    ['## Filters', 1],
  ])('%s: each curl finds transactions', async (heading, count) => {
    const codes = codesOf(heading, 'sh');
    expect(codes).toHaveLength(count);
    for (const code of codes) {
      const { status, stdout, output } = await run('sh', ['-c', code], {
        env: { TOKEN: service.token('*.read') },
      });
      expect(status, output).toBe(0);
      expect((JSON.parse(stdout) as { items?: unknown[] }).items?.length, code).toBeGreaterThan(0);
    }
  });

  const { python, ts } = languages;
  it.for(installed({ python, ts }))('loops over all pages in %s', async ([language, ending]) => {
    const file = `loop.${ending}`;
    await write(file, codeOf('## Loop over all pages', language));
    const lines = (await outputOf([file])).trim().split('\n');
    expect(lines[0]).toMatch(/^[0-9a-f-]{36} \d+ [A-Z]{3}$/);
    // More than the two pages that a loop with a mistake could reach.
    expect(new Set(lines).size).toBe(300);
  });

  it('the commands of the sandbox move cards and transactions, with events', async () => {
    let id = '';
    const updates = async () => {
      const events = service.service.database.db.selectFrom('events').select('name');
      return (await events.where('name', 'like', '%.updated').orderBy('name').execute()).map(
        ({ name }) => name,
      );
    };
    expect(await updates()).toEqual([]);
    for (const call of calls('## What happens next'))
      [id = ''] = /^[0-9a-f-]{36}/m.exec(await payments(call.replace('ID', id))) ?? [];
    expect(await updates()).toEqual(['payment-method.updated', 'transaction.updated', 'transaction.updated']);
  });

  const receivers = installed({ Python: 'py' });
  it.for(receivers)('a receiver in %s takes an event once and refuses what is not signed', async () => {
    const port = await freePort();
    const own = (code = '') => code.replace('3000', String(port));
    await write('verify.py', codeOf('## Checking a signature', 'python'));
    await write('receive.py', own(codeOf('## A whole receiver', 'python')));
    const [create, trigger = ''] = calls('## A whole receiver');
    const { id, secret } = JSON.parse(await payments(own(create))) as { id: string; secret: string };
    const receiver = startCommand('python3', ['receive.py'], {
      cwd: folder,
      env: { WEBHOOK_SECRET: secret },
    });
    try {
      await eventually(() => isListening(port), 'the receiver listens');
      const { event, target } = JSON.parse(await payments(trigger)) as { event: string; target: string };
      const deliveredTimes = async (times: number) => {
        const text = await payments(`webhooks deliveries --event ${event} --json`);
        const { items } = JSON.parse(text) as { items: { status: number }[] };
        return items.filter(({ status }) => status === 204).length === times;
      };
      await eventually(() => deliveredTimes(1), 'the event is delivered');
      await payments(`webhooks replay ${event}`);
      await eventually(() => deliveredTimes(2), 'the event is delivered again');
      const forged = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: '{}' });
      expect([forged.status, receiver.stdout()]).toEqual([400, `transaction.updated ${target}\n`]);
    } finally {
      receiver.process.kill();
    }
    const [list = '', remove = ''] = calls('# Webhooks');
    expect(await payments(list)).toContain(id);
    // On a terminal it asks.
    await payments(`${remove.replace('ID', id)} --yes`);
    expect(await payments(list)).not.toContain(id);
  });
});

describe('the pages of workflows', () => {
  /** The commands of a page, in one shell. Returns what each step printed. */
  async function outputsOf(slug: string, env: Record<string, string>): Promise<string[]> {
    const contract = parseContract(await readFile(join(root, 'generated/openapi.json'), 'utf8'));
    const page = readGuides(contract).find((guide) => guide.slug === slug)?.markdown ?? '';
    const [...codes] = page.matchAll(/^```sh\n([^]*?)^```$/gm);
    const script = codes.map(([, code = '']) => code).join("echo '\n---'\n");
    const { status, stdout, output } = await run(
      'sh',
      ['-ec', script.replaceAll('http://127.0.0.1:8080', service.url)],
      { cwd: folder, env: { TOKEN: service.token('*.read', '*.write'), ...env } },
    );
    expect(status, output).toBe(0);
    return stdout.split('\n---\n');
  }
  const idIn = (json = '') => /"id":"([^"]+)"/.exec(json)?.[1] ?? '';

  it('store a card once', async () => {
    const [stored, repeated] = await outputsOf('first-payment-method', { KEY: 'workflow-of-a-test' });
    expect(stored).toContain('"status":"succeeded"');
    expect(repeated).toMatch(/^idempotency-replayed: true/im);
    expect(idIn(repeated)).toBe(idIn(stored));
  });

  it('read two pages', async () => {
    const pages = (await outputsOf('all-transactions', {})).map(
      (page) => JSON.parse(page) as { items: { id: string }[] },
    );
    expect(new Set(pages.flatMap(({ items }) => items.map(({ id }) => id))).size).toBe(40);
  });

  it('subscribe a receiver, which gets the event', async () => {
    await using receiver = await startReceiver();
    const [subscribed, stored] = await outputsOf('receive-an-event', { RECEIVER: receiver.url });
    expect(subscribed).toContain('"secret":"whsec_');
    await receiver.received(1);
    expect(JSON.parse(receiver.got[0]?.body ?? '')).toMatchObject({
      name: 'payment-method.created',
      target: { id: idIn(stored) },
    });
  });
});
