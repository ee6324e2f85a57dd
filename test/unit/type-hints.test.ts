// Below the commonest faults of the compiler, `npm run lint -- --types` says what to do.
import { expect, it } from 'vitest';
import { operations } from '../../generated/operations.ts';
import { withHints } from '../../scripts/support/type-hints.ts';

const fault = (file: string, code: string) =>
  `${file}(7,3): error ${code}: Type '…' is not assignable to type '…'.`;

it('says what the contract declares, once for each handler that returns what it must not, and for nothing else', async () => {
  const output = [
    fault('server/handlers/list-card-scheme-definitions.ts', 'TS2322'),
    fault('server/handlers/list-card-scheme-definitions.ts', 'TS2322'),
    fault('server/handlers/list-transactions.ts', 'TS2304'),
    fault('server/store/buyers.ts', 'TS2322'),
  ].join('\n');
  const declared = operations.listCardSchemeDefinitions.statuses.join(', ');
  expect(await withHints({ ok: false, output })).toEqual({
    ok: false,
    output: `${output}\nThe contract declares for listCardSchemeDefinitions: ${declared}`,
  });
});

// As the compiler prints them.
const lacks = (file: string, property: string) =>
  `${file}(7,3): error TS1360: Type '{ … }' does not satisfy the expected type 'Shown<…>'.
  Property '${property}' is missing in type '{ … }' but required in type 'Shown<…>'.`;
const unlisted = "server/handlers/index.ts(7,3): error TS2741: Property 'getBuyer' is missing in type '{}'.";

it.each([
  ['a handler', unlisted, 'npm run generate writes a stub'],
  ['a filter', lacks('server/store/transaction-filters.ts', 'country'), '"A filter"'],
  ['a column', lacks('server/store/tables/transactions.ts', 'installments'), '"A migration and a column"'],
  ['personal data', lacks('server/domain/personal-data.ts', 'installments'), 'kept or erased'],
  [
    'a field of a presenter',
    "server/present/card-scheme.ts(5,3): error TS2741: Property 'colour' is missing in type '{}'.",
    'a field that is not shown yet',
  ],
])('says what to do if %s is missing, once', async (_what, one, hint) => {
  const output = `${one}\n${one}`;
  const told = await withHints({ output });
  expect(told.output.startsWith(`${output}\n`)).toBe(true);
  expect(told.output.split(hint)).toHaveLength(2);
  expect(told.output.split('\n')).toHaveLength(output.split('\n').length + 1);
});

it('says nothing about other faults', async () => {
  const output = [fault('server/store/tables/buyers.ts', 'TS2304'), lacks('server/start.ts', 'x')].join('\n');
  expect(await withHints({ output })).toEqual({ output });
});
