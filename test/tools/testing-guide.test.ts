// The files of docs/guides/testing.md, unchanged: run from the installed archives, in a folder of their own with an empty home.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chromiumPath } from '../support/browser.ts';
import { eventually } from '../support/data-dir.ts';
import { installPackedService, type PackedService } from '../support/packed-service.ts';
import { root, run } from '../support/processes.ts';
import { shareOf } from '../support/random.ts';

const guide = readFileSync(join(root, 'docs/guides/testing.md'), 'utf8');

/** By the last name of a file that stands before each block. */
const files = new Map(
  [...guide.matchAll(/```(?:js|py)\n(.*?)```/gs)].map(({ index, 1: code = '' }) => [
    [...guide.slice(0, index).matchAll(/`(\w[\w.]*\.(?:mjs|py))`/g)].at(-1)?.[1] ?? '',
    code,
  ]),
);

let packed: PackedService;
let env: Record<string, string>;
beforeAll(async () => {
  packed = await installPackedService();
  const at = (...parts: string[]) => join(packed.folder, ...parts);
  for (const folder of ['home', 'temporary']) mkdirSync(at(folder));
  env = { HOME: at('home'), TMPDIR: at('temporary'), CHROMIUM_PATH: chromiumPath ?? '' };
  for (const [name, code] of files) writeFileSync(at(name), code);
  // The packages that the guide names besides, from the project's own node_modules.
  for (const [name, from] of Object.entries({ vitest: 'vitest', playwright: 'playwright-core' }))
    symlinkSync(join(root, 'node_modules', from), at('node_modules', name));
  symlinkSync(join(root, 'node_modules/.bin/vitest'), at('node_modules/.bin/vitest'));
});
afterAll(() => packed[Symbol.asyncDispose]());

const python = spawnSync('python3', ['--version']).status === 0;

const programs = [
  { file: 'first.mjs', command: [process.execPath, 'first.mjs'], says: "name: 'payment-method.created'" },
  {
    file: 'payments.test.mjs',
    command: ['node_modules/.bin/vitest', 'run', 'payments.test.mjs'],
    says: '3 passed',
  },
  { file: 'status.test.mjs', command: [process.execPath, '--test', 'status.test.mjs'], says: 'pass 1' },
  {
    file: 'page.test.mjs',
    command: [process.execPath, '--test', 'page.test.mjs'],
    says: 'pass 1',
    isPossible: chromiumPath !== undefined,
  },
  { file: 'test_payments.py', command: ['python3', '-m', 'unittest'], says: 'OK', isPossible: python },
  { file: 'mock.test.mjs', command: [process.execPath, '--test', 'mock.test.mjs'], says: 'pass 1' },
];

it.each(shareOf(programs))(
  '$file succeeds as it is, and leaves nothing',
  async ({ file, command, says, isPossible = true }) => {
    expect([...files.keys()]).toContain(file);
    if (!isPossible) return;
    const [program = '', ...args] = command;
    const { status, output } = await run(program, args, { cwd: packed.folder, env });
    expect(output).toContain(says);
    expect(status, output).toBe(0);
    const left = async () =>
      (await readdir(join(packed.folder, 'temporary'))).filter((name) => name.startsWith('payments-'));
    await eventually(async () => (await left()).length === 0, 'the data of the sandbox is gone');
  },
);
