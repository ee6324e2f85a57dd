// The tests that `npm run generate` writes for operations of `npm run new` pass before their author has written a line.
import { cp, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, inject, it } from 'vitest';
import { generate } from '../../scripts/generate/generate.ts';
import { planOf, readCall } from '../../scripts/new/call.ts';
import { carryOut } from '../../scripts/new/plan.ts';
import { root } from '../../scripts/support/root.ts';
import { brokenProject } from '../support/contract-copy.ts';
import { run } from '../support/processes.ts';

/** With and without a POST of the collection, one that is there and a new one, below another record, and every method. */
const calls = [
  'GET /payment-methods/{id}',
  'DELETE /payment-methods/{id}',
  'PATCH /webhook-subscriptions/{subscription_id}',
  'PUT /gift-cards/{gift_card_id}',
  'GET /buyers/{buyer_id}',
  'GET /buyers/{buyer_id}/payment-methods',
  'POST /refunds',
  'GET /refunds/{id}',
  'GET /refunds',
];

it('they are green or to do, for every kind of path', async () => {
  await using project = await brokenProject({});
  for (const part of [
    'server',
    'client',
    'mock',
    'generated',
    'scripts',
    'test',
    'package.json',
    'tsconfig.json',
    'vitest.config.ts',
  ])
    await cp(join(root, part), join(project.folder, part), { recursive: true });
  const tests = 'test/service/operations';
  const before = await readdir(join(project.folder, tests));
  for (const call of calls)
    await carryOut(project.folder, await planOf(project.folder, readCall(['operation', ...call.split(' ')])));
  expect(await generate(project.folder)).toMatchObject({ ok: true });
  const written = (await readdir(join(project.folder, tests))).filter((file) => !before.includes(file));
  expect(written).toHaveLength(calls.length);
  const files = written.map((file) => `${tests}/${file}`);
  const { status, output } = await run(
    process.execPath,
    [join(root, 'node_modules/vitest/vitest.mjs'), 'run', ...files],
    {
      cwd: project.folder,
      env: { TEST_DATABASE_URL: inject('serverUrl'), CI: 'true' },
    },
  );
  expect(output).toMatch(new RegExp(`Test Files +${calls.length} passed`));
  expect(output).toContain(' todo');
  expect(status).toBe(0);
}, 300_000);
