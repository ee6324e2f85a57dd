// With the commonest faults of the compiler, `npm run lint -- --types` says what to do.
import { expect, it } from 'vitest';
import { operations } from '../../generated/operations.ts';
import { withHints } from '../../scripts/support/type-hints.ts';

const fault = (file: string, code: string) =>
  `${file}(7,3): error ${code}: Type '…' is not assignable to type '…'.`;

it('says what the contract declares, once for each handler that returns what it must not, and for nothing else', async () => {
  const wrong = fault('server/handlers/list-card-scheme-definitions.ts', 'TS2322');
  const others = [
    fault('server/handlers/list-transactions.ts', 'TS2304'),
    fault('server/store/buyers.ts', 'TS2322'),
  ];
  const declared = operations.listCardSchemeDefinitions.statuses.join(', ');
  expect(await withHints({ ok: false, output: [wrong, wrong, ...others].join('\n') })).toEqual({
    ok: false,
    output: [
      wrong,
      `  The contract declares for listCardSchemeDefinitions: ${declared}`,
      wrong,
      ...others,
    ].join('\n'),
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
    'Fields that are not shown yet',
  ],
])('says what to do if %s is missing, once', async (_what, one, hint) => {
  const { output } = await withHints({ output: `${one}\n${one}` });
  const [told = '', compiler = '', ...more] = output.split('\n');
  expect(told).toMatch(/^[\w/.-]+:[57] {2}missing: (getBuyer|country|installments|colour)\. [A-Z]/);
  expect(told).toContain(hint);
  expect(compiler).toMatch(/^ {2}TS\d+: /);
  expect(more).toEqual([]);
});

it('names all that is missing, and shortens what the compiler says', async () => {
  const long = `'{ ${'id: string; '.repeat(50)}}'`;
  const output = `server/store/transaction-filters.ts(80,7): error TS2739: Type ${long} is missing the following properties from type ${long}: country, intent
${fault('server/start.ts', 'TS2304')}`;
  const [told, compiler = '', other] = (await withHints({ output })).output.split('\n');
  expect(told).toBe(
    'server/store/transaction-filters.ts:80  missing: country, intent. Add a line for each filter (docs/guides/backend-engineer.md, "A filter").',
  );
  expect(compiler).toMatch(/^ {2}TS2739: Type '\{ id: string;.{1,150}…$/);
  expect(other).toBe(fault('server/start.ts', 'TS2304'));
});

it('says nothing about other faults', async () => {
  const output = [fault('server/store/tables/buyers.ts', 'TS2304'), lacks('server/start.ts', 'x')].join('\n');
  expect(await withHints({ output })).toEqual({ output });
});
