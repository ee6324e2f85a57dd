// The existing tables become the first partitions, also after an interruption in any statement.
import { expect, beforeAll, it, vi } from 'vitest';
import type { Kysely } from 'kysely';
import { openDatabase } from '../../server/store/database.ts';
import { migrations } from '../../server/store/migrations/index.ts';
import { createEmptyDatabase, withClient } from '../support/database.ts';
import { migrateStore } from '../support/migrate.ts';
import { readFixture, restoreFixture } from '../support/upgrade.ts';

vi.setConfig({ testTimeout: 300_000, hookTimeout: 120_000 });

const names = ['0016-partitions-by-time', '0017-kept-answers'];
const tables = ['events', 'deliveries', 'delivery_attempts', 'idempotency_keys', 'idempotency_answers'];

/** A database of version 1.0.1 with all migrations before these. */
let before: string;
beforeAll(async () => {
  before = await restoreFixture((await readFixture()).receiver);
  const later = Object.entries(migrations).filter(([name]) => name >= '0016');
  for (const [name] of later) Reflect.deleteProperty(migrations, name);
  try {
    await migrateStore(before);
  } finally {
    Object.assign(migrations, Object.fromEntries(later));
  }
  await withClient(before, (client) =>
    client.query(`insert into idempotency_keys (slot, fingerprint, claim, claimed_until, created_at, answer_sealed)
      values ('slot', '', gen_random_uuid(), now(), now(), 'answer')`),
  );
});

const copyOf = (url: string) => createEmptyDatabase(new URL(url).pathname.slice(1));

/** What the tables consist of. Names of constraints for `not null` differ between versions of PostgreSQL. */
const readSchema = (url: string) =>
  withClient(url, async (client) => {
    const { rows } = await client.query<{ line: string }>(
      `with ours as (select oid from pg_class where relkind in ('r', 'p') and relname ~ $1)
       select pg_get_indexdef(indexrelid) || ' ' || indisvalid as line from pg_index where indrelid in (select oid from ours)
       union all select conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid) from pg_constraint
         where conrelid in (select oid from ours) and contype <> 'n'
       union all select pg_get_triggerdef(oid) from pg_trigger where tgrelid in (select oid from ours)
       union all select inhrelid::regclass || ' ' || pg_get_expr(relpartbound, inhrelid) from pg_inherits
         join pg_class on pg_class.oid = inhrelid where inhparent in (select oid from ours)
       union all select attrelid::regclass || ' ' || attname || ' ' || attnotnull from pg_attribute
         where attrelid in (select oid from ours) and attnum > 0 and not attisdropped
       order by 1`,
      [`^(${tables.join('|')})(_|$)`],
    );
    return rows.map(({ line }) => line);
  });

const readRows = (url: string, added: string[]) =>
  withClient(url, async (client) => {
    const found: unknown[] = [];
    for (const table of tables.slice(0, 4)) {
      const { rows } = await client.query<{ row: object }>(
        `select to_jsonb(one) - $1::text[] as row from ${table} as one order by one::text collate "C"`,
        [added],
      );
      found.push(rows.map(({ row }) => JSON.stringify(row)).sort());
    }
    return found;
  });

/** The files of tables: others if the rows were copied. */
const readFiles = (url: string, suffix: string) =>
  withClient(url, async (client) => {
    const { rows } = await client.query<{ file: number }>(
      `select pg_relation_filenode(name || $2) as file from unnest($1::text[]) as name`,
      [tables.slice(0, 3), suffix],
    );
    return rows;
  });

it('copies no row, keeps all of them, and gives each its merchant account', async () => {
  const url = await copyOf(before);
  const files = await readFiles(url, '');
  const added = ['event_created_at', 'merchant_account_id'];
  const rows = await readRows(url, added);
  for (const found of rows) expect(found).not.toEqual([]);
  const { migrated, messages } = await migrateStore(url);
  expect(migrated).toEqual(expect.arrayContaining(names));
  expect(messages.join('\n')).toContain('building the index deliveries_before_pkey');
  expect(await readFiles(url, '_before')).toEqual(files);
  expect(await readRows(url, added)).toEqual(rows);
  await withClient(url, async (client) => {
    const { rows: strange } = await client.query(
      `select from deliveries
       left join events on events.merchant_account_id = deliveries.merchant_account_id
         and events.created_at = event_created_at and events.id = event_id
       where events.id is null
       union all
       select from delivery_attempts as attempt
       left join deliveries on deliveries.merchant_account_id = attempt.merchant_account_id
         and deliveries.id = attempt.delivery_id
       where deliveries.id is null`,
    );
    expect(strange).toEqual([]);
    // Every index of the table belongs to one of the whole: none was built while others waited.
    const { rows: own } = await client.query(
      `select indexrelid::regclass::text as name from pg_index
       where indrelid::regclass::text ~ '_before$' and indexrelid not in (select inhrelid from pg_inherits)`,
    );
    expect(own).toEqual([{ name: 'events_by_age' }]);
    const { rows: keys } = await client.query(
      `select merchant_account_id, answer_sealed from idempotency_keys`,
    );
    expect(keys).toEqual([{ merchant_account_id: '', answer_sealed: 'answer' }]);
  });
});

class Interruption extends Error {}

/** Runs the migrations until the given statement. Returns whether there was one. */
async function interruptAt(url: string, statement: number): Promise<boolean> {
  const database = openDatabase(url, () => undefined, { statementMilliseconds: 0 });
  let count = 0;
  const db = database.db.withPlugin({
    transformQuery: ({ node }) => {
      if (++count === statement) throw new Interruption();
      return node;
    },
    transformResult: ({ result }) => Promise.resolve(result),
  }) as unknown as Kysely<unknown>;
  try {
    for (const name of names) {
      const migration = migrations[name];
      if (migration && 'online' in migration)
        await migration.online({ db, isFresh: false, progress: () => undefined });
    }
    return false;
  } catch (error) {
    if (error instanceof Interruption) return true;
    throw error;
  } finally {
    await database.close();
  }
}

it('interrupted in any statement, it completes with the next start', async () => {
  const whole = await copyOf(before);
  await migrateStore(whole);
  const schema = await readSchema(whole);
  const rows = await readRows(whole, []);
  let interrupted = 0;
  // Not each one, because a copy of the database takes a while; the step has no factor in common with repeating patterns.
  for (let statement = 2; ; statement += 7) {
    const url = await copyOf(before);
    if (!(await interruptAt(url, statement))) break;
    interrupted += 1;
    await migrateStore(url);
    expect(await readSchema(url), `statement ${statement}`).toEqual(schema);
    expect(await readRows(url, [])).toEqual(rows);
  }
  expect(interrupted).toBeGreaterThan(8);
});

it('an end of the first partition that has come near is moved', async () => {
  const url = await copyOf(before);
  // As an interruption of eleven days would leave it.
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
  await withClient(url, (client) =>
    client.query(
      `alter table events add constraint events_before_range check (created_at < '${tomorrow}') not valid`,
    ),
  );
  await migrateStore(url);
  await withClient(url, async (client) => {
    const { rows } = await client.query<{ days: number }>(
      `select extract(epoch from substring(pg_get_expr(relpartbound, oid) from 'TO \\(''([^'']+)')::timestamptz - now())
         / 86400 as days from pg_class where relname = 'events_before'`,
    );
    expect(Number(rows[0]?.days)).toBeGreaterThan(7);
  });
});
