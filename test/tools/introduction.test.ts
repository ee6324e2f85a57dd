// Runs the samples of the introduction and of docs/guides/languages.md that need a service unchanged, but for its port.
import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/data-dir.ts';
import { paymentsHere } from '../support/in-process.ts';
import { freePort, isListening } from '../support/ports.ts';
import { root, run, startCommand } from '../support/processes.ts';
import { noSecrets, startTestService, type TestService } from '../support/service.ts';
import { hasty } from '../support/webhooks.ts';

let service: TestService;
let text: string;
let folder: string;
beforeAll(async () => {
  service = await startTestService({ config: { secrets: noSecrets }, webhooks: hasty });
  const files = ['openapi/introduction.md', 'docs/guides/languages.md'];
  text = (await Promise.all(files.map((file) => readFile(join(root, file), 'utf8')))).join('\n');
  folder = await mkdtemp(join(tmpdir(), 'introduction-'));
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

/** The code of a section, up to the next heading. Both files have a section of the same name. */
const samples = (heading: string, language: string) => {
  const sections = text.split(/^(?=#+ )/m).filter((one) => one.startsWith(`${heading}\n`));
  return [...sections.join('').matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)]
    .filter(([, name]) => name === language)
    .map(([, , code = '']) => code.replaceAll('http://127.0.0.1:8080', service.url));
};
const calls = (heading: string) =>
  [
    ...samples(heading, 'sh')
      .join('')
      .matchAll(/^npm run -s payments -- (.+)$/gm),
  ].map(([, call = '']) => call);
async function payments(call: string): Promise<string> {
  const env = { DATABASE_URL: service.config.databaseUrl, DATA_DIR: service.config.dataDir };
  const { status, stdout, stderr } = await paymentsHere(call.split(' '), env);
  expect(status, `${call}: ${stderr}`).toBe(0);
  return stdout;
}
const token = () => ({ TOKEN: service.token('*.read') });

describe('the introduction', () => {
  it.each([
    ['# Pages', 2],
    ['## Filters', 1],
  ])('%s: each curl finds transactions', async (heading, count) => {
    const codes = samples(heading, 'sh');
    expect(codes).toHaveLength(count);
    for (const code of codes) {
      const { status, stdout, output } = await run('sh', ['-c', code], { env: token() });
      expect(status, output).toBe(0);
      expect((JSON.parse(stdout) as { items?: unknown[] }).items?.length, code).toBeGreaterThan(0);
    }
  });

  const loops = [
    { language: 'python', file: 'loop.py', command: ['python3'] },
    { language: 'ts', file: 'loop.ts', command: [process.execPath, '--import', import.meta.resolve('tsx')] },
  ];
  it.for(loops)('loops over all pages in $language', async ({ language, file, command }, { skip }) => {
    const [program = '', ...args] = command;
    skip(spawnSync(program, ['--version']).status !== 0, `${program} is not installed`);
    const [code = ''] = samples('## Loop over all pages', language);
    const client = JSON.stringify(join(root, 'client/index.ts'));
    await writeFile(join(folder, file), code.replace("'payments-service-client'", client));
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
    const { status, stdout, output } = await run(program, [...args, file], { cwd: folder, env: token() });
    expect(status, output).toBe(0);
    const lines = stdout.trim().split('\n');
    expect(lines[0]).toMatch(/^[0-9a-f-]{36} \d+ [A-Z]{3}$/);
    // More than the two pages that a loop with a mistake could reach.
    expect(new Set(lines).size).toBe(300);
  });

  it('the commands of the sandbox move cards and transactions, with events', async () => {
    let id = '';
    for (const call of calls('## What happens next'))
      [id = ''] = /^[0-9a-f-]{36}/m.exec(await payments(call.replace('ID', id))) ?? [];
    const db = service.service.database.db;
    const events = await db.selectFrom('events').select('name').orderBy('name').execute();
    expect(events.map(({ name }) => name)).toEqual([
      'payment-method.updated',
      'transaction.updated',
      'transaction.updated',
    ]);
  });

  it('a receiver in Python takes an event once and refuses what is not signed', async ({ skip }) => {
    skip(spawnSync('python3', ['--version']).status !== 0, 'python3 is not installed');
    const port = await freePort();
    const own = (code = '') => code.replace('3000', String(port));
    const [verify = ''] = samples('## Checking a signature', 'python');
    const [receive] = samples('## A whole receiver', 'python');
    await writeFile(join(folder, 'verify.py'), verify);
    await writeFile(join(folder, 'receive.py'), own(receive));
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
