// Partitions events, deliveries and attempts by time, and gives each row its merchant account, while older versions serve:
// see docs/decisions/0019-partitions-by-time.md. The existing table becomes the first partition, so no row is copied.
import { sql, type Kysely } from 'kysely';
import { briefly, buildIndex, inBatches, type Online } from '../online.ts';

interface Table {
  name: string;
  /** The column that decides the partition. */
  time: string;
  columns: string;
  primaryKey: string;
  /** Those that every partition has. */
  indexes: Readonly<Record<string, string>>;
  /** Those that the table has under this name already. */
  existing: readonly string[];
  /** Those that are not needed any more. */
  dropped?: readonly string[];
  /** Fills in what versions before 1.3 leave out. It must not touch `time`. */
  fill?: string;
}

const events: Table = {
  name: 'events',
  time: 'created_at',
  columns: `
    id uuid not null,
    name text not null,
    merchant_account_id text not null,
    body text not null,
    created_at timestamptz(3) not null`,
  primaryKey: '(merchant_account_id, created_at, id)',
  indexes: { events_by_id: '(id)' },
  existing: [],
  dropped: ['events_by_account'],
};

const deliveries: Table = {
  name: 'deliveries',
  time: 'created_at',
  columns: `
    id uuid not null default gen_random_uuid(),
    event_id uuid not null,
    subscription_id uuid not null,
    state text not null default 'pending',
    attempts integer not null default 0,
    created_at timestamptz(3) not null default now(),
    updated_at timestamptz(3) not null default now(),
    round integer not null default 0,
    attempts_before integer not null default 0,
    merchant_account_id text not null,
    event_created_at timestamptz(3) not null,
    constraint deliveries_state_check check (state in ('pending', 'succeeded', 'failed'))`,
  primaryKey: '(merchant_account_id, created_at, id)',
  indexes: {
    deliveries_by_id: '(id)',
    deliveries_by_event: '(event_id)',
    deliveries_by_subscription: '(subscription_id, created_at desc)',
    deliveries_by_age: '(created_at desc, id)',
    deliveries_failed: `(created_at desc) where state = 'failed'`,
    deliveries_pending: `(created_at) where state = 'pending'`,
  },
  existing: ['deliveries_by_event', 'deliveries_by_subscription', 'deliveries_by_age', 'deliveries_failed'],
  fill: 'fill_delivery',
};

const attempts: Table = {
  name: 'delivery_attempts',
  time: 'at',
  columns: `
    delivery_id uuid not null,
    number integer not null,
    at timestamptz(3) not null,
    status integer,
    milliseconds integer not null,
    error text,
    merchant_account_id text not null`,
  primaryKey: '(merchant_account_id, delivery_id, number, at)',
  indexes: {},
  existing: [],
  fill: 'fill_attempt',
};

const tables = [events, deliveries, attempts];

export async function online(migration: Online): Promise<void> {
  await addAccounts(migration);
  for (const table of tables) await prepare(migration, table);
  await briefly(migration, 'events without foreign keys', async (tx) => {
    await run(
      tx,
      'alter table if exists delivery_attempts drop constraint if exists delivery_attempts_delivery_id_fkey',
    );
    await run(tx, 'alter table if exists deliveries drop constraint if exists deliveries_event_id_fkey');
    await run(
      tx,
      'alter table if exists deliveries drop constraint if exists deliveries_subscription_id_fkey',
    );
    await run(tx, 'alter table if exists events drop constraint if exists events_merchant_account_id_fkey');
  });
  for (const table of tables) await partition(migration, table);
}

/** The columns, and who fills them in for older versions and for the rows that there are. */
async function addAccounts(migration: Online): Promise<void> {
  const { db } = migration;
  await run(
    db,
    `create or replace function fill_delivery() returns trigger language plpgsql as $$
     begin
       select merchant_account_id, created_at into new.merchant_account_id, new.event_created_at
       from events where id = new.event_id;
       return new;
     end $$`,
  );
  await run(
    db,
    `create or replace function fill_attempt() returns trigger language plpgsql as $$
     begin
       select merchant_account_id into new.merchant_account_id from deliveries where id = new.delivery_id;
       return new;
     end $$`,
  );
  if (!(await isPartitioned(db, 'deliveries'))) {
    await briefly(migration, 'the merchant account of deliveries', async (tx) => {
      await run(
        tx,
        `alter table deliveries add column if not exists merchant_account_id text,
           add column if not exists event_created_at timestamptz(3)`,
      );
      await fillIn(tx, deliveries);
    });
    await fillDeliveries(migration);
  }
  if (!(await isPartitioned(db, 'delivery_attempts'))) {
    await briefly(migration, 'the merchant account of attempts', async (tx) => {
      await run(tx, 'alter table delivery_attempts add column if not exists merchant_account_id text');
      await fillIn(tx, attempts);
    });
    await fillAttempts(migration);
  }
}

const batchSize = 2000;
const firstId = '00000000-0000-0000-0000-000000000000';

function fillDeliveries(migration: Online): Promise<void> {
  let after = firstId;
  return inBatches(migration, 'the merchant account of deliveries', async (tx) => {
    const { rows } = await sql<{ id: string }>`
      with batch as (
        select id, event_id from deliveries where id > ${after}::uuid and merchant_account_id is null
        order by id limit ${batchSize} for update
      ), filled as (
        update deliveries set merchant_account_id = events.merchant_account_id, event_created_at = events.created_at
        from batch, events where deliveries.id = batch.id and events.id = batch.event_id
      )
      select id from batch order by id`.execute(tx);
    after = rows.at(-1)?.id ?? after;
    return rows.length;
  });
}

function fillAttempts(migration: Online): Promise<void> {
  let after = { delivery_id: firstId, number: 0 };
  return inBatches(migration, 'the merchant account of attempts', async (tx) => {
    const { rows } = await sql<typeof after>`
      with batch as (
        select delivery_id, number from delivery_attempts
        where (delivery_id, number) > (${after.delivery_id}::uuid, ${after.number}::integer) and merchant_account_id is null
        order by delivery_id, number limit ${batchSize} for update
      ), filled as (
        update delivery_attempts as attempt set merchant_account_id = deliveries.merchant_account_id
        from batch, deliveries
        where attempt.delivery_id = batch.delivery_id and attempt.number = batch.number
          and deliveries.id = batch.delivery_id
      )
      select delivery_id, number from batch order by delivery_id, number`.execute(tx);
    after = rows.at(-1) ?? after;
    return rows.length;
  });
}

const first = ({ name }: Table) => `${name}_before`;
const ofFirst = (table: Table, index: string) => index.replace(table.name, first(table));

/** All that takes long, so that `partition` only has to rename. */
async function prepare(migration: Online, table: Table): Promise<void> {
  const { db } = migration;
  const { name, time, primaryKey, indexes, existing } = table;
  if (await isPartitioned(db, name)) return;
  await buildIndex(migration, { name: `${first(table)}_pkey`, table: name, isUnique: true, on: primaryKey });
  for (const [index, on] of Object.entries(indexes))
    if (!existing.includes(index))
      await buildIndex(migration, { name: ofFirst(table, index), table: name, on });
  await briefly(migration, `the end of the first partition of ${name}`, async (tx) => {
    // PostgreSQL demands it of later rows from now on. If the migration was interrupted for days, it must not come near.
    const end = await findEnd(tx, table);
    if (end !== undefined && end.getTime() > Date.now() + 3 * 86_400_000) return;
    await run(tx, `alter table ${name} drop constraint if exists ${first(table)}_range`);
    const { rows } = await sql<{ end: string }>`
      select (date_trunc('week', now() at time zone 'UTC') + interval '14 days')::text || '+00' as end`.execute(
      tx,
    );
    await run(
      tx,
      `alter table ${name} add constraint ${first(table)}_range check (${time} < '${rows[0]?.end ?? ''}') not valid`,
    );
    if (table.fill)
      for (const column of ownColumns(table))
        await run(
          tx,
          `alter table ${name} drop constraint if exists ${name}_${column}_known,
             add constraint ${name}_${column}_known check (${column} is not null) not valid`,
        );
  });
  await run(db, `alter table ${name} validate constraint ${first(table)}_range`);
  if (table.fill)
    for (const column of ownColumns(table))
      await run(db, `alter table ${name} validate constraint ${name}_${column}_known`);
}

const ownColumns = ({ name }: Table) =>
  name === 'deliveries' ? ['merchant_account_id', 'event_created_at'] : ['merchant_account_id'];

async function partition(migration: Online, table: Table): Promise<void> {
  const { name, time, columns, primaryKey, indexes, existing, dropped = [], fill } = table;
  const old = first(table);
  await briefly(migration, `partitions of ${name}`, async (tx) => {
    if (await isPartitioned(tx, name)) return;
    await run(tx, `alter table ${name} rename to ${old}`);
    if (fill) {
      await run(tx, `drop trigger ${fill} on ${old}`);
      for (const column of ownColumns(table)) {
        // The check is proof enough, so PostgreSQL does not read the table.
        await run(tx, `alter table ${old} alter column ${column} set not null`);
        await run(tx, `alter table ${old} drop constraint ${name}_${column}_known`);
      }
    }
    await run(tx, `alter table ${old} drop constraint ${name}_pkey`);
    await run(tx, `alter table ${old} add constraint ${old}_pkey primary key using index ${old}_pkey`);
    for (const index of dropped) await run(tx, `drop index ${index}`);
    for (const index of existing) await run(tx, `alter index ${index} rename to ${ofFirst(table, index)}`);
    await run(
      tx,
      `create table ${name} (${columns}, constraint ${name}_pkey primary key ${primaryKey}) partition by range (${time})`,
    );
    for (const [index, on] of Object.entries(indexes))
      await run(tx, `create index ${index} on ${name} ${on}`);
    const end = await findEnd(tx, table, old);
    await run(
      tx,
      `alter table ${name} attach partition ${old} for values from (minvalue) to ('${end?.toISOString() ?? ''}')`,
    );
    await run(tx, `alter table ${old} drop constraint ${old}_range`);
    await run(tx, `create table ${name}_default partition of ${name} default`);
    if (fill) await fillIn(tx, table);
  });
}

const fillIn = (tx: Kysely<unknown>, { name, fill = '' }: Table) =>
  run(
    tx,
    `create or replace trigger ${fill} before insert on ${name} for each row
       when (new.merchant_account_id is null) execute function ${fill}()`,
  );

const run = (db: Kysely<unknown>, statement: string) => sql.raw(statement).execute(db);

async function isPartitioned(db: Kysely<unknown>, name: string): Promise<boolean> {
  const { rows } = await sql`
    select from pg_partitioned_table where partrelid = to_regclass(${name})`.execute(db);
  return rows.length > 0;
}

/** Undefined before it is decided. */
async function findEnd(db: Kysely<unknown>, table: Table, name = table.name): Promise<Date | undefined> {
  const { rows } = await sql<{ end: Date | null }>`
    select substring(pg_get_constraintdef(oid) from '''([^'']+)''')::timestamptz as end
    from pg_constraint where conrelid = to_regclass(${name}) and conname = ${`${first(table)}_range`}`.execute(
    db,
  );
  return rows[0]?.end ?? undefined;
}
