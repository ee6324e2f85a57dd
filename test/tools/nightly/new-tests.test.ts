// The tests that `npm run generate` writes for operations of `npm run new` pass before their author has written a line, and the code
// that `npm run new` writes keeps the lint rules.
import { cp, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, inject, it } from 'vitest';
import { generate } from '../../../scripts/generate/generate.ts';
import { planOf, readCall } from '../../../scripts/new/call.ts';
import { carryOut } from '../../../scripts/new/plan.ts';
import { root } from '../../../scripts/support/root.ts';
import { brokenProject } from '../../support/contract-copy.ts';
import { run } from '../../support/processes.ts';

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

/** With every method, without events and with one. */
const tables = ['refunds', 'pet_notes'].map((table) => `table ${table} --erasure display_name=kept`);
const forTables = ['PATCH /refunds/{id}', 'DELETE /refunds/{id}', 'POST /pet-notes', 'GET /pet-notes'];

it('they are green or to do, for every kind of path; tables need no fix either', async () => {
  await using project = await brokenProject({});
  for (const part of [
    'server',
    'client',
    'mock',
    'generated',
    'scripts',
    'test',
    '.oxlintrc.json',
    'package.json',
    'tsconfig.json',
    'vitest.config.ts',
  ])
    await cp(join(root, part), join(project.folder, part), { recursive: true });
  const make = async (call: string) =>
    carryOut(project.folder, await planOf(project.folder, readCall(call.split(' '))));
  const tests = 'test/service/operations';
  const before = await readdir(join(project.folder, tests));
  for (const call of calls) await make(`operation ${call}`);
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

  for (const call of forTables) await make(`operation ${call}`);
  expect(await generate(project.folder)).toMatchObject({ ok: true });
  await writeFile(join(project.folder, 'openapi/webhooks/pet-note.created.yaml'), 'post: {}\n');
  for (const table of tables) await make(table);
  const places = ['server/handlers', 'server/resources/refunds', 'server/resources/pet-notes', tests];
  const lint = await run(
    process.execPath,
    // The folder also has compiled code.
    [join(root, 'node_modules/oxlint/bin/oxlint'), '--deny-warnings', '--ignore-pattern=*.js', ...places],
    { cwd: project.folder },
  );
  expect(lint.status, lint.output).toBe(0);
}, 300_000);
