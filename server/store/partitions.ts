// Partitions by time: made ahead, and dropped when they are over. What has no partition is in the default one. All of it takes
// exclusive locks for a moment only: see docs/decisions/0019-partitions-by-time.md.
import { setTimeout as wait } from 'node:timers/promises';
import { sql } from 'kysely';
import { missingRanges, type TimeRange } from '../domain/time-ranges.ts';
import { acrossAccounts } from './across-accounts.ts';
import { inTransactionOnce, type Db, type Tx } from './database.ts';
import type { Partitioned } from './tables/partitioned.ts';

export interface Partition extends TimeRange {
  name: string;
}

/** Those with a range. */
export async function listPartitions(db: Db, { table }: Partitioned): Promise<Partition[]> {
  const { rows } = await sql<Partition>`
    select name, coalesce(substring(bound from 'FROM \\(''([^'']+)''')::timestamptz, '0001-01-01 00:00:00+00') as from,
      substring(bound from 'TO \\(''([^'']+)''')::timestamptz as to
    from (
      select relname as name, pg_get_expr(relpartbound, pg_class.oid) as bound from pg_inherits
      join pg_class on pg_class.oid = inhrelid where inhparent = to_regclass(${table})
    ) as found where bound <> 'DEFAULT' order by 2`.execute(db);
  return rows;
}

/** Has rows of any time. */
export const defaultOf = ({ table }: Partitioned): string => `${table}_default`;

/** A partition gets so many rows of the default one at most: others wait meanwhile. */
const movedAtMost = 20_000;

/** Returns how many it made. */
export async function makePartitions(
  db: Db,
  partitioned: Partitioned,
  { now, days, most = movedAtMost }: { now: Date; days: number; most?: number },
): Promise<number> {
  const missing = missingRanges(await listPartitions(db, partitioned), now, days);
  let made = 0;
  for (const range of missing) {
    const free = await withoutCrowd(db, partitioned, range, most);
    if (!free) continue;
    await makePartition(db, partitioned, free);
    made += 1;
  }
  return made;
}

const hour = 3_600_000;

/**
 * If the default partition has too many rows of the range, those stay there, and the partition begins in the hour after the next
 * one, before which its rows are in the default partition, too.
 */
async function withoutCrowd(
  db: Db,
  { table, time }: Partitioned,
  range: TimeRange,
  most: number,
): Promise<TimeRange | undefined> {
  const { rows } = await sql<{ total: number; newest: Date | null }>`
    select count(*) as total, max(time) as newest from (
      select ${sql.ref(time)} as time from ${sql.table(defaultOf({ table, time }))}
      where ${sql.ref(time)} >= ${range.from} and ${sql.ref(time)} < ${range.to}
    ) as found ${acrossAccounts('partitions')}`.execute(db);
  const { total = 0, newest = null } = rows[0] ?? {};
  if (newest === null || total <= most) return range;
  const from = new Date((Math.floor(newest.getTime() / hour) + 2) * hour);
  return from < range.to ? { ...range, from } : undefined;
}

const nameOf = (table: string, { from }: TimeRange) =>
  `${table}_${from.toISOString().slice(0, 13).replace(/-/g, '').replace('T00', '').replace('T', '_')}`;

/** With the rows of the range that are in the default partition. They move in the transaction that attaches the partition. */
const makePartition = (db: Db, { table, time }: Partitioned, range: TimeRange): Promise<void> =>
  inMoment(db, async (tx) => {
    const name = nameOf(table, range);
    const [from, to] = [range.from, range.to].map((at) => sql.lit(at.toISOString()));
    await sql`create table ${sql.table(name)} (like ${sql.table(table)} including defaults including constraints)`.execute(
      tx,
    );
    await sql`lock table ${sql.table(defaultOf({ table, time }))} in access exclusive mode`.execute(tx);
    await sql`
      with moved as (
        delete from ${sql.table(defaultOf({ table, time }))}
        where ${sql.ref(time)} >= ${from} and ${sql.ref(time)} < ${to} returning *
      ) insert into ${sql.table(name)} select * from moved ${acrossAccounts('partitions')}`.execute(tx);
    await sql`
      alter table ${sql.table(table)} attach partition ${sql.table(name)} for values from (${from}) to (${to})`.execute(
      tx,
    );
  });

/**
 * Drops the partitions whose rows are all from before that time, and of which `isOver` is true. It is called twice, the second time
 * while nobody else can use the table. (PostgreSQL does not detach concurrently from a table with a default partition.)
 */
export async function dropPartitions(
  db: Db,
  partitioned: Partitioned,
  before: Date,
  isOver: (db: Db, partition: Partition) => Promise<boolean> = () => Promise.resolve(true),
): Promise<number> {
  let dropped = 0;
  for (const partition of await listPartitions(db, partitioned)) {
    if (partition.to > before || !(await isOver(db, partition))) continue;
    await inMoment(db, async (tx) => {
      await sql`lock table only ${sql.table(partitioned.table)} in access exclusive mode`.execute(tx);
      if (!(await isOver(tx, partition))) return;
      await sql`drop table ${sql.table(partition.name)}`.execute(tx);
      dropped += 1;
    });
  }
  return dropped;
}

const tries = 10;
const lockMilliseconds = 200;
const pauseMilliseconds = 1_000;

/**
 * Everybody else waits behind us while we wait for an exclusive lock, so we give up soon. If somebody reads for minutes, such as a
 * backup, it is left to the next run.
 */
async function inMoment(db: Db, work: (tx: Tx) => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await inTransactionOnce(db, async (tx) => {
        await sql`select set_config('lock_timeout', ${`${lockMilliseconds}ms`}, true)`.execute(tx);
        await work(tx);
      });
      return;
    } catch (error) {
      if (!isLockFault(error) || attempt === tries) throw error;
    }
    await wait(pauseMilliseconds);
  }
}

/** Where old rows are deleted one by one: in the default partition, and in the table of before there were partitions. */
export async function listMixed(
  db: Db,
  partitioned: Partitioned,
  before: Date,
): Promise<{ table: string; account: string }[]> {
  const found: { table: string; account: string }[] = [];
  const first = `${partitioned.table}_before`;
  const { rows: exists } = await sql`select where to_regclass(${first}) is not null`.execute(db);
  for (const table of [defaultOf(partitioned), ...(exists.length > 0 ? [first] : [])]) {
    const { rows } = await sql<{ account: string }>`
      select distinct merchant_account_id as account from ${sql.table(table)}
      where ${sql.ref(partitioned.time)} < ${before} ${acrossAccounts('retention')}`.execute(db);
    found.push(...rows.map(({ account }) => ({ table, account })));
  }
  return found;
}

/** lock_not_available, deadlock_detected */
const isLockFault = (error: unknown) =>
  error instanceof Error && 'code' in error && (error.code === '55P03' || error.code === '40P01');
