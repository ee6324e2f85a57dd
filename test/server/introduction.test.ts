// Runs the samples of the introduction that need a service unchanged, but for its port.
import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { paymentsHere } from '../support/in-process.ts';
import { root, run } from '../support/processes.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let text: string;
let folder: string;
beforeAll(async () => {
  service = await startTestService();
  text = await readFile(join(root, 'openapi/introduction.md'), 'utf8');
  folder = await mkdtemp(join(tmpdir(), 'introduction-'));
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

/** The code of a section, up to the next heading. */
const samples = (heading: string, language: string) => {
  const section = text.split(/^(?=#+ )/m).find((one) => one.startsWith(`${heading}\n`)) ?? '';
  return [...section.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)]
    .filter(([, name]) => name === language)
    .map(([, , code = '']) => code.replaceAll('http://127.0.0.1:8080', service.url));
};
const token = () => ({ TOKEN: service.token('*.read') });

describe('the introduction', () => {
  it.each([
    ['# Pages', 2],
    ['## Filters', 2],
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
    const env = { DATABASE_URL: service.config.databaseUrl, DATA_DIR: service.config.dataDir };
    const calls = samples('## What happens next', 'sh')
      .join('')
      .matchAll(/^npm run -s payments -- (.+)$/gm);
    let id = '';
    for (const [, call = ''] of calls) {
      const { status, stdout, stderr } = await paymentsHere(call.replace(' ID ', ` ${id} `).split(' '), env);
      expect(status, `${call}: ${stderr}`).toBe(0);
      [id = ''] = /^[0-9a-f-]{36}/m.exec(stdout) ?? [];
    }
    const events = await service.service.database.db.selectFrom('events').select('name').execute();
    expect(events.map(({ name }) => name).sort()).toEqual([
      'payment-method.updated',
      'transaction.updated',
      'transaction.updated',
    ]);
  });
});
