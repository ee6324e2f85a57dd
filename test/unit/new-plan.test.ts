// `npm run new` writes its files at once, because `npm run dev` may be watching and would report a contract that is half
// written, and marks in them what their author has to write.
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { planOf, readCall } from '../../scripts/new/call.ts';
import { carryOut } from '../../scripts/new/plan.ts';
import { root as project } from '../../scripts/support/root.ts';

it.each([
  'operation GET /unicorns',
  'schema Unicorn --in Transaction',
  'filter country',
  'event transaction.captured',
  'error unicorn_found --in createPaymentMethod',
])('%s marks what its author has to write', async (call) => {
  const { write } = await planOf(project, readCall(call.split(' ')));
  expect(Object.values(write).join('')).toMatch(/^ *\w+: .* # TODO: say /m);
});

it('nobody sees some of the files without the others', async () => {
  const root = await mkdtemp(join(tmpdir(), 'new-plan-'));
  await writeFile(join(root, 'map.yaml'), 'paths:\n');
  const names = Array.from({ length: 20 }, (_, number) => `folder-${number}/file.yaml`);
  const write = Object.fromEntries(names.map((name) => [name, 'x']));
  const progress = { isDone: false };
  const carriedOut = carryOut(root, {
    write,
    edit: { 'map.yaml': (text) => `${text}  /new\n` },
    next: [],
  }).finally(() => {
    progress.isDone = true;
  });
  const seen = new Set<number>();
  while (!progress.isDone) {
    seen.add(names.filter((name) => existsSync(join(root, name))).length);
    await turn();
  }
  expect(await carriedOut).toEqual([...names, 'map.yaml']);
  expect([...seen].filter((count) => count > 0 && count < names.length)).toEqual([]);
  expect(await readFile(join(root, 'map.yaml'), 'utf8')).toBe('paths:\n  /new\n');
  await rm(root, { recursive: true });
});
