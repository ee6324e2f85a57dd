// With the commonest faults of the compiler, `npm run lint -- --types` says what to do.
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { operations } from '../../generated/operations.ts';
import { withHints } from '../../scripts/support/type-hints.ts';
import { compileTexts } from '../support/types.ts';

const fault = (file: string, code: string) =>
  `${file}(7,3): error ${code}: Type '…' is not assignable to type '…'.`;

const head = `
import type { Result } from '../../generated/operations.ts';
import type { components } from '../../generated/types.ts';
type Schemes = Result<'listCardSchemeDefinitions'>;
type Subscription = Result<'createWebhookSubscription'>;
declare const scheme: { type: 'card-scheme-definition'; id: 'visa'; icon_url: string; display_name: string };
declare const subscription: components['schemas']['WebhookSubscription'];
declare const nameless: { type: 'card-scheme-definition'; id: 'visa'; icon_url: string };
`;

const subscription = `{ status: 201, body: { type: 'webhook-subscription', id: '1' } }`;
const missing = 'missing: active, authentication, merchant_account_id, rotating, secret, url';
const wrongAnswers: [what: string, code: string, hint: string][] = [
  [
    'a status',
    `const a: Schemes = { status: 202, body: { items: [scheme] } };`,
    'status 202 is not declared',
  ],
  [
    'a status of a promise',
    `const a = (): Promise<Schemes> => Promise.resolve({ status: 202, body: { items: [scheme] } });`,
    'status 202 is not declared',
  ],
  ['no body', `const a: Schemes = { status: 200 };`, 'missing: body'],
  ['no list', `const a: Schemes = { status: 200, body: {} };`, 'not an answer of the contract'],
  [
    'an item without a field',
    `const a: Schemes = { status: 200, body: { items: [nameless] } };`,
    'missing: display_name',
  ],
  [
    'an item with a field of another type',
    `const a: Schemes = { status: 200, body: { items: [{ ...scheme, display_name: 7 }] } };`,
    'display_name has another type',
  ],
  [
    'a field that the contract does not have',
    `const a: Schemes = { status: 200, body: { items: [], colour: 'blue' } };`,
    'the contract has no colour',
  ],
  [
    'a misspelt field',
    `const a: Schemes = { status: 200, body: { items: [{ ...scheme, display_nme: 'Visa' }] } };`,
    'the contract has no display_nme (did you mean display_name?)',
  ],
  [
    'a misspelt field that the compiler has a name for',
    `export const a: components['schemas']['WebhookSubscription'] = { id: '1', actve: true };`,
    'the contract has no actve (did you mean active?)',
  ],
  [
    'a field of another type beside a spread',
    `const a: Subscription = { status: 201, body: { ...subscription, active: 'yes' } };`,
    'active has another type: string, the contract has boolean',
  ],
  [
    'a field of another type in a promise',
    `const a = (): Promise<Subscription> => Promise.resolve({ status: 201, body: { ...subscription, url: 7 } });`,
    'url has another type: number, the contract has string',
  ],
  ['fields that are missing', `const a: Subscription = ${subscription};`, missing],
  [
    'fields that are missing in a promise',
    `const a = (): Promise<Subscription> => Promise.resolve(${subscription});`,
    missing,
  ],
];

describe('a handler with a wrong answer', () => {
  let faults: string[];
  beforeAll(async () => {
    faults = await compileTexts(wrongAnswers.map(([, code]) => head + code));
  });

  it.each(wrongAnswers.map(([what, code, hint], index) => ({ what, code, hint, index })))(
    'is told what is wrong: $what',
    async ({ code, hint, index }) => {
      const id = code.includes('Subscription') ? 'createWebhookSubscription' : 'listCardSchemeDefinitions';
      const { path, statuses } = operations[id];
      const file = `server/handlers/${id.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}.ts`;
      const { output } = await withHints({ output: `${file}(7,3): error ${faults[index] ?? ''}` });
      const [told, compiler = '', ...more] = output.split('\n');
      const declares = `openapi/paths${path}.yaml declares ${statuses.join(', ')}.`;
      expect(told).toBe(`${file}:7  ${id}: ${hint}. ${declares}`);
      expect(compiler).toMatch(/^ {2}TS\d+: .{1,160}/);
      expect(more).toEqual([]);
    },
  );
});

const ownTypes: [what: string, code: string, hint: string][] = [
  [
    'selects from an unknown table',
    `db.selectFrom('reasons').selectAll().where('id', '=', '1')`,
    'no table reasons',
  ],
  ['inserts into one', `tx.insertInto('reasons').values({ id: '1' }).execute()`, 'no table reasons'],
  ['updates one', `tx.updateTable('reasons').set({ id: '1' }).execute()`, 'no table reasons'],
  ['deletes from one', `tx.deleteFrom('reasons').where('id', '=', '1').execute()`, 'no table reasons'],
  [
    'reads one by another name, and joins it',
    `db.selectFrom('buyers').innerJoin('reasons as r', 'r.id', 'buyers.id').select('r.id')`,
    'npm run new -- table reasons,',
  ],
  [
    'misspells a table',
    `db.selectFrom('buyer').selectAll()`,
    "no table buyer is known. Did you mean 'buyers'?",
  ],
  ['pages through one', `fetchPage(rows, 'reasons', page)`, 'no table reasons'],
  [
    'has no announcement',
    `insertPaymentMethod(tx, card)`,
    "announce(unit, 'refund-reason.created', presentRefundReason). For a new event: npm run new -- event refund-reason.created (",
  ],
  [
    'makes its own announcement in payment-methods.ts',
    `insertPaymentMethod(tx, card, { tell: undefined })`,
    "announce(unit, 'payment-method.created', presentPaymentMethod). The contract has payment-method.created, payment-method.updated (",
  ],
  [
    'passes the unit of work instead in payment-methods.ts',
    `insertPaymentMethod(tx, card, unit)`,
    "announce(unit, 'payment-method.created', ",
  ],
  [
    'misspells an event',
    `announce(unit, 'transaction.updted', () => card)`,
    "has no transaction.updted. Did you mean 'transaction.updated'?",
  ],
  ['names an unknown event', `announce(unit, 'unicorn.born', () => card)`, 'npm run new -- event'],
  [
    'writes in a handler that reads',
    `deps.inUnitOfWork(() => undefined)`,
    'takes WriteDeps of ./deps.ts instead of Deps',
  ],
  ['misspells an error code', `new ApiError('not_fund')`, "has no not_fund. Did you mean 'not_found'?"],
  [
    'ignores a filter',
    `readPage('listTransactions', query, deps, read)`,
    'would ignore the filter amount_eq',
  ],
];

const ownHead = `
import { announce } from '../../server/actions/announce.ts';
import { ApiError } from '../../server/errors.ts';
import type { UnitOfWork } from '../../server/actions/unit-of-work.ts';
import type { Deps } from '../../server/handlers/deps.ts';
import { readPage } from '../../server/handlers/page.ts';
import type { Db, Tx } from '../../server/store/database.ts';
import { fetchPage, type Page } from '../../server/store/paging.ts';
import { insertPaymentMethod } from '../../server/store/payment-methods.ts';
import type { Input } from '../../generated/operations.ts';
declare const [db, tx, unit, deps]: [Db, Tx, UnitOfWork, Deps];
declare const [rows, card]: [never, never];
declare const page: { limit: number; cursor: undefined };
declare const query: Input<'listTransactions'>['query'];
declare const read: () => Promise<Page<object>>;
export const use = `;

describe('code that does not fit a type of ours', () => {
  let faults: string[];
  beforeAll(async () => {
    faults = await compileTexts(ownTypes.map(([, code]) => ownHead + code));
  });

  it.each(ownTypes.map(([what, , hint], index) => ({ what, hint, index })))(
    'is told what to do: $what',
    async ({ what, hint, index }) => {
      const file = `server/actions/${/\S+\.ts/.exec(what)?.[0] ?? 'refund-reasons.ts'}`;
      const printed = (faults[index] ?? '').replaceAll(/^(?=TS\d)/gm, `${file}(7,3): error `);
      const [told, compiler, ...more] = (await withHints({ output: printed })).output.split('\n');
      expect(told).toMatch(/^server\/actions\/[a-z-]+\.ts:7 {2}.*\(docs\/guides\/backend-engineer\.md, "A/);
      expect(told).toContain(hint);
      expect(compiler).toMatch(/^ {2}TS\d+: .{1,161}$/);
      expect(more.filter((line) => !/^ {2}\(\d more that may follow/.test(line))).toEqual([]);
    },
  );
});

it('says first that a table is unknown, and folds what follows from it, in other files too', async () => {
  const unknown = (line: number) =>
    `server/store/remarks.ts(${line},17): error TS2345: Argument of type '"remarks"' is not assignable to parameter of type 'TableExpressionOrList<Tables, never>'.`;
  const other = fault('server/start.ts', 'TS2304');
  const output = [
    "server/handlers/get-note.ts(4,9): error TS2739: Type '{}' is missing the following properties from type '{ id: string; text: string; }': id, text",
    "server/handlers/list-notes.ts(7,2): error TS7031: Binding element 'id' implicitly has an 'any' type.",
    other,
    unknown(10),
    'server/store/remarks.ts(11,4): error TS2349: This expression is not callable.\n  Each member of the union …',
    unknown(14),
  ].join('\n');
  const [told, , folded, ...rest] = (await withHints({ output })).output.split('\n');
  expect(told).toContain(
    'server/store/remarks.ts:10  no table remarks is known. For a new one: npm run new -- table remarks',
  );
  expect(folded).toBe('  (4 more that may follow from this: mend it, and check again)');
  expect(rest).toEqual([other]);
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

it.each([
  [
    "TS2353: Object literal may only specify known properties, and 'colour' does not exist in type 'Buyer'.",
    '',
  ],
  [
    "TS2561: Object literal may only specify known properties, but 'colour' does not exist in type 'Buyer'. Did you mean to write 'color'?",
    " Did you mean 'color'?",
  ],
])('says that a presenter shows a field which the contract does not have: %s', async (said, meant) => {
  const { output } = await withHints({ output: `server/present/buyer.ts(7,3): error ${said}` });
  expect(output).toContain(
    `server/present/buyer.ts:7  the contract has no colour.${meant} To show a new one, `,
  );
});

it('names the field that the compiler points at', async () => {
  const file = 'server/handlers/list-transactions.ts';
  const lines = readFileSync(file, 'utf8').split('\n');
  const line = lines.findIndex((text) => text.includes('metadata: texts')) + 1;
  const column = (lines[line - 1] ?? '').indexOf('metadata:') + 1;
  const said = "TS2322: Type 'string' is not assignable to type 'number'.";
  const { output } = await withHints({ output: `${file}(${line},${column}): error ${said}` });
  expect(output).toContain(
    'listTransactions: metadata has another type: string, the contract has number. openapi/',
  );
});

it('puts what follows from one change of the contract below a heading, each place in a short line', async () => {
  const long = `'{ ${'id: string; '.repeat(50)}}'`;
  const at = (file: string, said: string) => `${file}(7,3): error ${said}`;
  const output = [
    at('test/a.ts', `TS2339: Property 'reconciliation_id' does not exist on type ${long}.`),
    fault('server/start.ts', 'TS2304'),
    at('server/b.ts', `TS2353: 'reconciliation_id' does not exist in type 'New'.\n  More of it.`),
    at('server/c.ts', `TS2741: Property 'buyer_approval_required' is missing in type '{}'.`),
    at('server/d.ts', 'TS2322: Type \'"processing"\' is not assignable to type \'"failed"\'.'),
  ].join('\n');
  expect((await withHints({ output })).output.split('\n')).toEqual([
    'the value `buyer_approval_required` is missing in 1 place:',
    "  server/c.ts:7  TS2741: Property 'buyer_approval_required' is missing in type '{}'.",
    'the field `reconciliation_id` is not in the contract, but used in 2 places:',
    expect.stringMatching(/^ {2}test\/a\.ts:7 {2}TS2339: Property 'reconciliation_id' .{1,70}…$/),
    "  server/b.ts:7  TS2353: 'reconciliation_id' does not exist in type 'New'.",
    'the value `processing` is not allowed in 1 place:',
    '  server/d.ts:7  TS2322: Type \'"processing"\' is not assignable to type \'"failed"\'.',
    fault('server/start.ts', 'TS2304'),
  ]);
});

it('says last what is not used', async () => {
  const [unused, other] = [fault('server/start.ts', 'TS6133'), fault('server/start.ts', 'TS2304')];
  expect((await withHints({ output: `${unused}\n${other}` })).output).toBe(`${other}\n${unused}`);
});

it('says nothing about other faults', async () => {
  const output = [
    fault('server/store/tables/buyers.ts', 'TS2304'),
    fault('server/handlers/list-transactions.ts', 'TS2304'),
    fault('server/store/buyers.ts', 'TS2322'),
    lacks('server/start.ts', 'x'),
  ].join('\n');
  expect(await withHints({ output })).toEqual({ output });
});
