// Query plans of GET /transactions with many rows: every query uses an index and reads little more than one page. MILLION=1
// runs this with a million rows and prints the times.
import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openReadyDatabase } from '../../server/database.ts';
import { inTransaction, openDatabase, type Database, type Db } from '../../server/kit/database/database.ts';
import type { Range } from '../../server/kit/database/paging.ts';
import { inWork, silently } from '../../server/kit/database/unit-of-work.ts';
import { importTransactions } from '../../server/resources/transactions/changes.ts';
import { conditionsOf, type TransactionFilters } from '../../server/resources/transactions/filters.ts';
import { planOf, transactionRange } from '../../server/resources/transactions/ranges.ts';
import { eventually } from '../support/data-dir.ts';
import { createTestDatabase, withClient } from '../support/database.ts';
import { shareOf } from '../support/random.ts';
import { createAccount } from '../support/records.ts';
import { anyValue, filterNames, seedSql, transaction } from '../support/transactions.ts';

const count = process.env.MILLION === '1' ? 1_000_000 : 50_000;
let database: Database;

interface Node {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  'Heap Fetches'?: number;
  Plans?: Node[];
}

interface Answer {
  rows: number;
  milliseconds: number;
  nodes: Node[];
  indexes: string[];
  /** Table rows that were read, without entries of an index whose row was not. */
  touched: number;
  sorted: number;
  /** Blocks of table and index that were read. Only this number includes index entries that do not match. */
  blocks: number;
}

const whole = (plan: Node): Node[] => [plan, ...(plan.Plans ?? []).flatMap(whole)];
const sum = (numbers: number[]) => numbers.reduce((a, b) => a + b, 0);

/** With the settings that the connections of the service have for such a statement. */
const planned = <T>(filters: TransactionFilters, work: (db: Db) => Promise<T>): Promise<T> =>
  inTransaction(database.db, async (tx) => {
    if (planOf(conditionsOf(filters)) === 'anewInOrder')
      await sql.raw('set local enable_bitmapscan = off; set local enable_seqscan = off').execute(tx);
    return work(tx);
  });

async function explain(
  scope: readonly string[] | undefined,
  filters: TransactionFilters,
  range: Partial<Range> = {},
): Promise<Answer> {
  const asked: Range = { at: undefined, side: 'older', limit: 21, ...range };
  const query = transactionRange(scope ? { only: scope } : 'all', conditionsOf(filters), asked);
  const { rows } = await planned(filters, (db) =>
    sql<{
      'QUERY PLAN': [{ Plan: Node; 'Execution Time': number; 'Planning Time': number }];
    }>`explain (analyze, buffers, format json) ${query}`.execute(db),
  );
  const [explained] = rows[0]?.['QUERY PLAN'] ?? [];
  if (!explained) throw new Error('There is no plan.');
  const nodes = whole(explained.Plan);
  const scans = nodes.filter((node) => node['Relation Name'] === 'transactions');
  return {
    blocks: explained.Plan['Shared Hit Blocks'] + explained.Plan['Shared Read Blocks'],
    rows: explained.Plan['Actual Rows'],
    milliseconds: explained['Execution Time'] + explained['Planning Time'],
    nodes,
    indexes: [...new Set(nodes.flatMap((node) => node['Index Name'] ?? []))],
    touched: sum(
      scans.map(
        (node) =>
          node['Heap Fetches'] ??
          (node['Actual Rows'] +
            (node['Rows Removed by Filter'] ?? 0) +
            (node['Rows Removed by Index Recheck'] ?? 0)) *
            node['Actual Loops'],
      ),
    ),
    sorted: sum(
      nodes
        .filter((node) => node['Node Type'].includes('Sort'))
        .flatMap((node) => node.Plans ?? [])
        .map((node) => node['Actual Rows'] * node['Actual Loops']),
    ),
  };
}

const tell = (name: string, { milliseconds, touched, sorted, rows, blocks, indexes }: Answer) => {
  if (process.env.MILLION === '1' || process.env.TELL === '1')
    console.log(
      `${name.padEnd(70)} ${milliseconds.toFixed(1).padStart(7)} ms, ${rows} of ${touched} rows, ${sorted} sorted, ${blocks} blocks, ${indexes.join(' ')}`,
    );
};

const isSequential = ({ nodes }: Answer) =>
  nodes.some((node) => node['Node Type'] === 'Seq Scan' && node['Relation Name'] === 'transactions');

/** The row at this position of the list. */
const position = async (scope: readonly string[] | undefined, depth: number) => {
  const { rows } = await sql<{ created_at: Date; id: string }>`
    select created_at, id from transactions
    where ${scope ? sql`merchant_account_id = any(${[...scope]})` : sql`true`}
    order by created_at desc, id desc offset ${depth} limit 1`.execute(database.db);
  const [row] = rows;
  if (!row) throw new Error(`There is no row ${depth}.`);
  return { createdAt: row.created_at, id: row.id };
};

const digest = async (text: string) => {
  const { rows } = await sql<{ id: string }>`select md5(${text})::uuid as id`.execute(database.db);
  return rows[0]?.id ?? '';
};

/** An account of many transactions that have none of the values and flags of the others, and the same metadata. */
const bareSql = (rows: number) => `
  insert into transactions (id, merchant_account_id, created_at, updated_at, status, intent, amount, authorized_amount,
    captured_amount, refunded_amount, currency, pending_review, settled, settled_amount, gift_card_redemptions, metadata,
    merchant_initiated, is_subsequent_payment, has_gift_card_redemptions, has_refunds, has_settlements)
  select gen_random_uuid(), 'bare', now() - n * interval '1 minute', now() - n * interval '1 minute', 'processing',
    'capture', 2500, 0, 0, 0, 'SEK', false, false, 0, '[]', '{"kind":"same"}', false, false, false, false, false
  from generate_series(1, ${rows}) as n`;

const skewed = 20_000;

/** An account whose values exclude or imply each other, or are all old: none of it is what a planner expects. */
const skewedSql = (rows: number) => `
  insert into transactions (id, merchant_account_id, created_at, updated_at, status, intent, amount, authorized_amount,
    captured_amount, refunded_amount, currency, method, payment_source, payment_service_id, pending_review, settled,
    settled_amount, gift_card_redemptions, metadata, merchant_initiated, is_subsequent_payment, has_gift_card_redemptions,
    has_refunds, has_settlements)
  select gen_random_uuid(), 'skewed', timestamptz '2026-11-01' - n * interval '1 minute',
    timestamptz '2026-11-01' - (n - n % 7) * interval '1 minute',
    case when n > ${rows / 3} then 'capture_succeeded' when n % 2 = 0 then 'processing' else 'authorization_failed' end, 'capture',
    case n % 5 when 4 then 99990000 + n % 10000 when 3 then n % 100 else n % 9000 end, 0, 0, 0,
    case n % 5 when 4 then 'JPY' when 3 then 'BRL' else case when n % 2 = 0 then 'EUR' else 'USD' end end,
    case n % 5 when 4 then 'konbini' when 3 then 'boleto' else 'card' end,
    case when n > ${rows / 2} then 'moto' else 'ecommerce' end, md5('service' || case n % 5 when 3 then 3 else 1 end)::uuid,
    n % 5000 = 3, n > ${rows / 2}, 0, '[]', '{}', n < ${rows - 10}, n % 1000 = 6, n % 50 = 2, n % 200 = 1, n > ${rows / 2}
  from generate_series(1, ${rows}) as n`;

// Creating the indexes after the rows takes a fraction of the time.
async function seed() {
  const { rows: indexes } = await sql<{ name: string; definition: string }>`
    select indexname as name, indexdef as definition from pg_indexes
    where tablename = 'transactions'
      and indexname not in (select conname from pg_constraint where conrelid = 'transactions'::regclass)`.execute(
    database.db,
  );
  for (const { name } of indexes) await sql`drop index ${sql.ref(name)}`.execute(database.db);
  await sql.raw(seedSql(count)).execute(database.db);
  await sql.raw(bareSql(count / 5)).execute(database.db);
  await sql.raw(skewedSql(skewed)).execute(database.db);
  for (const { definition } of indexes) await sql.raw(definition).execute(database.db);
}

beforeAll(async () => {
  database = openDatabase(
    await createTestDatabase(),
    (error) => {
      throw error;
    },
    // As for requests, but there is time to insert the rows.
    { statementMilliseconds: 600_000 },
  );
  for (const id of ['default', 'marketplace', 'small', 'bare', 'skewed', 'empty'])
    await createAccount(database.db, { id, display_name: id });
  await seed();
  // Plans depend on pages that are visible to all: a page that is in use is left out by a vacuum.
  await eventually(async () => {
    await sql`vacuum transactions`.execute(database.db);
    const { rows } = await sql<{ all: boolean }>`
      select relallvisible = relpages as all from pg_class where relname = 'transactions'`.execute(
      database.db,
    );
    return rows[0]?.all === true;
  }, 'every page is visible to all');
  await sql`analyze transactions`.execute(database.db);
}, 600_000);
afterAll(() => database.close());

/** At least one line for every filter. With these values, only a few rows more than the page are read. */
async function oneOfEach(): Promise<[keyof TransactionFilters, TransactionFilters][]> {
  const n = Math.floor(count / 100) * 100 - 48;
  const { rows } = await sql<{ id: string; created_at: Date; updated_at: Date }>`
    select id, created_at, updated_at from transactions
    where external_identifier = ${`order-${n}`}`.execute(database.db);
  const [row] = rows;
  if (!row) throw new Error(`There is no order-${n}.`);
  const { id, created_at, updated_at } = row;
  const after = new Date(updated_at.getTime() + 1000).toISOString();
  const before = new Date(updated_at.getTime() - 1000).toISOString();
  const selective: [keyof TransactionFilters, TransactionFilters][] = [
    ['id', { id }],
    ['external_identifier', { external_identifier: `order-${n}` }],
    ['reconciliation_id', { reconciliation_id: `reconciliation-${n}` }],
    ['payment_service_transaction_id', { payment_service_transaction_id: `psp-${n}` }],
    ['checkout_session_id', { checkout_session_id: await digest(`checkout${n}`) }],
    ['buyer_id', { buyer_id: await digest(`buyer${n % 10000}`) }],
    ['buyer_external_identifier', { buyer_external_identifier: `buyer-${n % 10000}` }],
    ['payment_method_id', { payment_method_id: await digest(`method${n % 20000}`) }],
    ['payment_method_label', { payment_method_label: String(n % 10000).padStart(4, '0') }],
    ['payment_method_bin', { payment_method_bin: String(n % 500).padStart(8, '4') }],
    ['payment_service_id', { payment_service_id: [await digest('service3')] }],
    ['payment_service_id', { payment_service_id: [await digest('service1'), await digest('service2')] }],
    ['gift_card_id', { gift_card_id: await digest(`gift${n}`) }],
    ['gift_card_last4', { gift_card_last4: String(Math.floor(n / 50) % 10000).padStart(4, '0') }],
    ['amount_eq', { amount_eq: n % 5000 }],
    ['amount_gte', { amount_gte: 4999 }],
    ['amount_lte', { amount_lte: 0 }],
    ['updated_at_gte', { updated_at_gte: after, updated_at_lte: after }],
    ['updated_at_lte', { updated_at_lte: before, updated_at_gte: before }],
    ['created_at_gte', { created_at_gte: created_at.toISOString() }],
    ['created_at_lte', { created_at_lte: created_at.toISOString() }],
    ['currency', { currency: ['ISK'] }],
    ['currency', { currency: ['ISK', 'XXX', 'EUR'] }],
    ['method', { method: ['pix'] }],
    ['method', { method: ['pix', 'boleto', 'card'] }],
    ['status', { status: ['authorization_void_pending'] }],
    ['status', { status: ['authorization_voided'] }],
    ['status', { status: ['authorization_voided', 'authorization_void_pending', 'processing'] }],
    ['payment_source', { payment_source: ['moto'] }],
    ['payment_source', { payment_source: ['moto', 'recurring'] }],
    ['has_gift_card_redemptions', { has_gift_card_redemptions: true }],
    ['has_refunds', { has_refunds: true }],
    ['has_settlements', { has_settlements: true }],
    ['has_settlements', { has_settlements: false }],
    ['pending_review', { pending_review: true }],
    ['merchant_initiated', { merchant_initiated: true }],
    ['is_subsequent_payment', { is_subsequent_payment: true }],
    ['metadata', { metadata: new Map([['order', String(n)]]) }],
    ['metadata', { metadata: new Map([['channel', 'web']]) }],
    ['metadata', { metadata: new Map([['channel', 'unicorn']]) }],
    ['search', { search: `order-${n}` }],
    ['search', { search: `buyer-${n % 10000}` }],
    ['search', { search: 'common' }],
    ['search', { search: id }],
    ['search', { search: 'unicorn' }],
  ];
  // Of a filter that has no line here, any value that the contract accepts.
  const named = new Set(selective.map(([name]) => name));
  for (const name of filterNames.filter((one) => !named.has(one)))
    selective.push([name, { [name]: fc.sample(anyValue(name), { seed: 1, numRuns: 1 })[0] }]);
  return selective;
}

const scopes: [string, readonly string[] | undefined, number][] = [
  ['one large account', ['default'], 0.8],
  ['one small account', ['small'], 0.01],
  ['one account that has none of it', ['bare'], 0.2],
  ['two accounts', ['default', 'small'], 0.81],
  ['all accounts', undefined, 1.2],
];

describe(`${count} transactions`, () => {
  describe.each(scopes)('of %s', (name, scope, part) => {
    const own = Math.floor(count * part);
    const branches = scope === undefined ? 1 : scope.length;

    it.each([
      ['first', undefined],
      ['second', 20],
      ['middle', Math.floor(own / 2)],
      ['last', own - 10],
    ])('%s page: no more than the page is read, in either direction', async (page, depth) => {
      const at = depth === undefined ? undefined : await position(scope, depth);
      for (const [side, limit] of [
        ['older', 21],
        ['newer', 21],
        ['newer', 1],
        ['older', 501],
      ] as const) {
        const answer = await explain(scope, {}, { at, side, limit });
        tell(`${name}, ${page} page, ${limit} ${side}`, answer);
        expect(isSequential(answer)).toBe(false);
        expect(answer.blocks).toBeLessThan(50 + 5 * limit * branches);
        // With several accounts: one index range for each, and then the rows.
        expect(answer.touched).toBeLessThanOrEqual(limit * (branches === 1 ? 1 : branches + 1));
        expect(answer.sorted).toBeLessThanOrEqual(branches === 1 ? limit : 2 * limit * branches);
      }
    });
  });

  it('a page deep in a time range starts at its cursor, not at the end of the range', async () => {
    const newest = (await position(['default'], 0)).createdAt.toISOString();
    const oldest = (await position(['default'], count * 0.8 - 1)).createdAt.toISOString();
    const at = await position(['default'], count / 2);
    const range = { created_at_gte: oldest, created_at_lte: newest };
    for (const side of ['older', 'newer'] as const) {
      const answer = await explain(['default'], range, { at, side });
      tell(`range of time, ${side}`, answer);
      expect(answer.touched).toBe(21);
      expect(answer.blocks).toBeLessThan(50);
    }
  });

  // Some rows were created before that time and updated after it; they lie next to each other.
  it.each([0.001, 0.5, 0.96])('updated_at_lte does not read what is newer: %s of the list', async (share) => {
    const own = count * 0.8;
    const { createdAt } = await position(['default'], Math.floor(own * share));
    const deeper = await position(['default'], Math.floor(own * share) + 1200);
    for (const [at, side] of [
      [undefined, 'older'],
      [deeper, 'older'],
      [deeper, 'newer'],
    ] as const) {
      for (const other of [{}, { buyer_external_identifier: 'common' }, { currency: ['EUR'] }]) {
        const filters = { updated_at_lte: createdAt.toISOString(), ...other };
        const answer = await explain(['default'], filters, { at, side });
        tell(`updated_at_lte, ${share}, ${side}, ${JSON.stringify(other)}`, answer);
        expect(answer.rows).toBeGreaterThan(0);
        expect(answer.blocks).toBeLessThan(500);
      }
    }
  });

  // If nothing matches in a small account (here 1 % of the rows), scanning all of it is acceptable.
  const bound = count * 0.012;
  it('every filter is served by an index', async () => {
    const selective = await oneOfEach();
    const walked: string[] = [];
    for (const [name, scope] of scopes) {
      for (const [, filters] of selective) {
        const answer = await explain(scope, filters);
        const told = `${name}: ${JSON.stringify(filters, (_, value: unknown) => (value instanceof Map ? [...value] : value))}`;
        tell(told, answer);
        // The planner cannot know that one of the joined accounts has none of a common value.
        const isUnknown = scope === undefined && filters.metadata?.get('channel') === 'web';
        if (isSequential(answer) || (answer.touched > bound && !isUnknown))
          walked.push(`${told} ${answer.touched}`);
      }
    }
    expect(walked, 'add an index for the filter: "A filter" in docs/guides/backend-engineer.md').toEqual([]);
  });

  // Entries that are only compared are not among the rows that are read, so the index is looked at.
  it('several values of one filter are looked up, and not compared with the entries of the account', async () => {
    const several = (await oneOfEach()).filter(([, filters]) => conditionsOf(filters).choice);
    expect(several.length).toBeGreaterThan(4);
    const walked: string[] = [];
    for (const [name, scope] of scopes)
      for (const [, filters] of several)
        if ((await explain(scope, filters)).indexes.includes('transactions_walk'))
          walked.push(`${name}: ${JSON.stringify(filters)}`);
    expect(walked).toEqual([]);
  });

  it('rare values of one filter are found in their index, also beside another filter', async () => {
    for (const [, scope] of scopes) {
      const { indexes, blocks } = await explain(scope, { currency: ['XXX', 'YYY'], amount_gte: 50 });
      expect(indexes).toContain('transactions_by_currency');
      expect(blocks).toBeLessThan(50);
    }
  });

  it('search leaves out a column that another filter gives another value', async () => {
    const filters = {
      search: 'order-52',
      buyer_external_identifier: 'common',
      updated_at_lte: '2099-01-01T00:00:00Z',
    };
    expect(conditionsOf(filters).any).toHaveLength(2);
    const { indexes } = await explain(['default'], filters);
    expect(indexes).toContain('transactions_by_external_identifier');
    expect(indexes).not.toContain('transactions_by_buyer_external_identifier');
    const all = {
      external_identifier: 'order-52',
      buyer_external_identifier: 'buyer-52',
      payment_service_transaction_id: 'psp-52',
    };
    expect((await explain(['default'], all)).rows).toBe(1);
    expect((await explain(['default'], { ...all, search: 'order-53' })).rows).toBe(0);
  });

  it('two or three filters by list, range or flag never read the rows of the account', async () => {
    const some = (name: keyof TransactionFilters, ...values: unknown[]) =>
      values.map((value): [keyof TransactionFilters, unknown] => [name, value]);
    const early = '2026-10-25T00:00:00Z';
    const all = [
      ...some('currency', ['EUR'], ['JPY'], ['BRL', 'JPY'], ['XXX']),
      ...some('status', ['processing'], ['capture_succeeded'], ['processing', 'authorization_failed']),
      ...some('method', ['konbini'], ['card', 'boleto']),
      ...some('payment_source', ['moto'], ['ecommerce', 'recurring']),
      ...some('payment_service_id', [await digest('service3')], [await digest('service1')]),
      ...some('amount_gte', 99_990_000, 50),
      ...some('amount_lte', 99),
      ...some('created_at_lte', early),
      ...some('updated_at_lte', early),
      ...some('updated_at_gte', '2026-10-31T00:00:00Z'),
      ...some('pending_review', true),
      ...some('merchant_initiated', true, false),
      ...some('is_subsequent_payment', false),
      ...some('has_gift_card_redemptions', true),
      ...some('has_refunds', false),
      ...some('has_settlements', true, false),
    ];
    const pairs = all.flatMap((one, index) => all.slice(index + 1).map((other) => [one, other]));
    const triples = fc.sample(fc.tuple(...[1, 2, 3].map(() => fc.constantFrom(...all))), {
      seed: 1,
      numRuns: 150,
    });
    const isDistinct = (set: typeof all) => new Set(set.map(([name]) => name)).size === set.length;
    const read: string[] = [];
    for (const set of shareOf([...pairs, ...triples].filter(isDistinct))) {
      const answer = await explain(['skewed'], Object.fromEntries(set));
      const told = JSON.stringify(set);
      tell(told, answer);
      if (answer.touched > skewed / 20 || answer.blocks > skewed / 10)
        read.push(`${told} ${answer.touched} ${answer.blocks}`);
    }
    expect(read).toEqual([]);
  });

  it('an import of one line leaves the plan of every filter as it was', async () => {
    const selective = await oneOfEach();
    const plans = async () => {
      const all: string[] = [];
      for (const [, filters] of selective) {
        const asked: Range = { at: undefined, side: 'older', limit: 21 };
        const query = transactionRange({ only: ['default'] }, conditionsOf(filters), asked);
        const { rows } = await planned(filters, (db) =>
          sql<{ 'QUERY PLAN': string }>`explain (costs off) ${query}`.execute(db),
        );
        all.push(rows.map((row) => row['QUERY PLAN']).join('\n'));
      }
      return all;
    };
    const before = await plans();
    await inWork(database.db, async (work) => {
      const rows = [transaction({ merchant_account_id: 'default' })];
      await importTransactions(silently(work, 'imported without --events'), [{ rows }]);
    });
    expect(await plans()).toEqual(before);
  });
});

describe.each([false, true])('with a pooler: %s', (isPooled) => {
  const settings = sql<object>`
    select current_setting('jit') as jit, current_setting('max_parallel_workers_per_gather') as workers`;

  it('requests and the worker plan without JIT and parallel workers, and long commands as the server does', async () => {
    const databaseUrl = await createTestDatabase();
    const options = { environment: 'sandbox', databaseUrl, dataDir: '/nowhere', isPooled } as const;
    const open = (more: object) => openReadyDatabase({ ...options, log: () => undefined, ...more });
    const service = await open({ servesRequests: true });
    const command = await open({ statementMilliseconds: 0 });
    const read = async ({ db }: Database) => [
      ...(await settings.execute(db)).rows,
      ...(await inTransaction(db, (tx) => settings.execute(tx))).rows,
    ];
    const own = await withClient(databaseUrl, (client) => client.query(settings.compile(command.db).sql));
    const quick = { jit: 'off', workers: '0' };
    for (const pool of [service, service.background]) expect(await read(pool)).toEqual([quick, quick]);
    expect(await read(command)).toEqual([own.rows[0], own.rows[0]]);
    await service.close();
    await command.close();
  });
});
