// The compiler refuses a table of which a fact is forgotten, and says which one.
import { describeTypes, type Piece } from '../support/types.ts';

const head = `
import { plain, type Facts } from '../../server/kit/maintenance/facts.ts';
import { kept } from '../../server/kit/rules/erasure.ts';
import { facts, type FactsOfAll } from '../../server/resources/facts.ts';
`;

/** Two tables that the list does not have; one of them names a buyer. */
const tables = `
declare module '../../server/kit/database/tables.ts' {
  interface Tables {
    refunds: { id: string; amount: number; reason: string | null; note_sealed: string | null };
    wishes: { id: string; merchant_account_id: string; buyer_id: string | null; wish: string | null };
  }
}`;

const forgotten = [
  'key',
  'isByAccount',
  'gauges',
  'daily',
  'retention',
  'checks',
  'sealed',
  'erasure',
  'placeholder',
];
const of = (text: string, name = 'refunds') =>
  `export const table = { ${text} } as const satisfies Facts<'${name}'>;`;
const refunds = '...plain, key: { id: "uuid" }, isByAccount: false, sealed: { note_sealed: "answer" }';
const wishes = '...plain, key: { id: "uuid" }, isByAccount: true';

const pieces: Piece[] = [
  { name: 'a table that says what differs from most compiles', code: tables + of(refunds) },
  ...forgotten.map((name) => ({
    name: `a table without ${name} does not compile`,
    code: of(`...(({ ${name}: _, ...others }) => others)({ ${refunds} } as const)`),
    fault: new RegExp(`Property '${name}' is missing`),
  })),
  {
    name: 'nor does one that says something else',
    code: of(`${refunds}, chekcs: {}`),
    fault: /'chekcs' does not exist/,
  },
  {
    name: 'nor one that takes what most tables say although it has a sealed column',
    code: of(`...plain, key: { id: 'uuid' }, isByAccount: false`),
    fault: /'sealed' are incompatible[^]*note_sealed/,
  },
  {
    name: 'nor one of which a sealed column is missing',
    code: of(`...plain, key: { id: 'uuid' }, isByAccount: false, sealed: { reason: 'answer' }`),
    fault: /Property 'note_sealed' is missing/,
  },
  {
    name: 'nor one of which a column has no rule for erasures',
    code: of(`${wishes}, erasure: kept('id', 'merchant_account_id', 'buyer_id')`, 'wishes'),
    fault: /Property 'wish' is missing/,
  },
  {
    name: 'nor one that erases a column that cannot be null',
    code: of(
      `${wishes}, erasure: { ...kept('id', 'buyer_id', 'wish'), merchant_account_id: 'erased' }`,
      'wishes',
    ),
    fault: /it cannot be null: a function makes another value/,
  },
  {
    name: 'nor a list without a table',
    code: `export const all = facts satisfies FactsOfAll;`,
    fault: /refunds, wishes/,
  },
  {
    name: 'nor a list with a table that erases a column of rows that no erasure finds',
    code: `
      ${of(`${refunds}, erasure: { ...kept('id', 'amount', 'note_sealed'), reason: 'erased' }`)}
      export const all = { refunds: table } satisfies Pick<FactsOfAll, 'refunds'>;`,
    fault: /no erasure finds its rows: they have neither buyer_id nor resource_id/,
  },
  {
    name: 'nor one with a table that says of rows that name a buyer that nothing of them is erased',
    code: `
      ${of(wishes, 'wishes')}
      export const all = { wishes: table } satisfies Pick<FactsOfAll, 'wishes'>;`,
    fault: /its rows name a buyer or a record: say for each column whether it is erased/,
  },
];

describeTypes('the facts of tables', head, pieces);
