// Steps of migrations that run while older instances serve: outside of a transaction, and without a lock that is held for
// longer than a moment. A process may be killed in any of them, so each can be repeated: see docs/decisions/0018-account-first.md.
import { setTimeout as wait } from 'node:timers/promises';
import { sql, type Kysely, type Transaction } from 'kysely';

export type Progress = (message: string) => void;

export interface Online {
  /** If `isFresh`, the transaction that creates everything. */
  db: Kysely<unknown>;
  /** The database was empty. There is nobody to wait for and nothing to copy, so every step runs in one transaction. */
  isFresh: boolean;
  progress: Progress;
}

/** Runs in one transaction with its neighbours (`up`), or in steps of its own, which can be repeated (`online`). */
export type ServiceMigration =
  { up: (db: Kysely<unknown>) => Promise<void> } | { online: (online: Online) => Promise<void> };

const reportMilliseconds = 5_000;
const lockMilliseconds = 500;
const commitMilliseconds = 10;

interface Index {
  name: string;
  table: string;
  isUnique?: boolean;
  /** What follows the name of the table: columns, and conditions if any. */
  on: string;
}

/** Builds an index without blocking writes. Does nothing if it exists. */
export async function buildIndex({ db, isFresh, progress }: Online, index: Index): Promise<void> {
  const { name, table, isUnique = false, on } = index;
  const create = (how: string) =>
    sql.raw(`create ${isUnique ? 'unique ' : ''}index ${how} ${name} on ${table} ${on}`).execute(db);
  if (isFresh) {
    await create('');
    return;
  }
  let isDropped = false;
  while (!isDropped) {
    if (await isValid(db, index)) return;
    isDropped = await dropUnfinished(db, index);
  }
  const begun = performance.now();
  progress(`building the index ${name}`);
  const reporting = setInterval(() => {
    // Without a free connection there is no report.
    describeBuild(db, name).then(progress, () => undefined);
  }, reportMilliseconds);
  try {
    await create('concurrently');
  } finally {
    clearInterval(reporting);
  }
  progress(`built the index ${name} in ${seconds(begun)} s`);
}

/** Drops what is left of a build that was interrupted. False if somebody else has changed it meanwhile. */
async function dropUnfinished(db: Kysely<unknown>, { name }: Index): Promise<boolean> {
  try {
    await sql.raw(`drop index concurrently if exists ${name}`).execute(db);
    return true;
  } catch (error) {
    // "tuple concurrently updated" has no code of its own, and no translation.
    if (error instanceof Error && error.message.startsWith('tuple concurrently')) return false;
    throw error;
  }
}

/** PostgreSQL goes on building after the process that wanted the index is gone; then this waits for it. */
async function isValid(db: Kysely<unknown>, { name, table }: Index): Promise<boolean> {
  const find = async () => {
    const { rows } = await sql<{ indisvalid: boolean }>`
      select indisvalid from pg_index where indexrelid = to_regclass(${name})`.execute(db);
    return rows[0]?.indisvalid;
  };
  const found = await find();
  if (found !== false) return found ?? false;
  await db.transaction().execute(async (tx) => {
    await sql.raw(`lock table ${table} in share update exclusive mode`).execute(tx);
  });
  // A build gives that lock back before it commits.
  while (await isCommitting(db, name)) await wait(commitMilliseconds);
  return (await find()) === true;
}

async function isCommitting(db: Kysely<unknown>, name: string): Promise<boolean> {
  const { rows } = await sql`
    select from pg_stat_activity where datname = current_database() and state = 'active' and pid <> pg_backend_pid()
    and query ilike ${`create%index concurrently ${name} %`}`.execute(db);
  return rows.length > 0;
}

async function describeBuild(db: Kysely<unknown>, name: string): Promise<string> {
  const { rows } = await sql<{ phase: string; percent: number | null }>`
    select phase, (100 * blocks_done / nullif(blocks_total, 0))::integer as percent
    from pg_stat_progress_create_index where index_relid = to_regclass(${name})`.execute(db);
  const { phase = 'waiting', percent = null } = rows[0] ?? {};
  return `building the index ${name}: ${phase}${percent === null ? '' : `, ${percent} %`}`;
}

/**
 * For statements that need an exclusive lock for a moment. While they wait for it, everybody else waits behind them, so they
 * give up after half a second and try again later. `work` must be short, and do nothing if it was done before.
 */
export async function briefly(
  { db, isFresh, progress }: Online,
  what: string,
  work: (tx: Kysely<unknown>) => Promise<void>,
): Promise<void> {
  if (isFresh) return work(db);
  let reported = performance.now();
  for (;;) {
    try {
      await db.transaction().execute(async (tx: Transaction<unknown>) => {
        await sql`select set_config('lock_timeout', ${`${lockMilliseconds}ms`}, true)`.execute(tx);
        await work(tx);
      });
      return;
    } catch (error) {
      if (!isLockFault(error)) throw error;
    }
    if (performance.now() - reported > reportMilliseconds) {
      reported = performance.now();
      progress(`${what}: waiting for transactions that use the table`);
    }
    await wait(2 * lockMilliseconds);
  }
}

/** lock_not_available, deadlock_detected */
export const isLockFault = (error: unknown) =>
  error instanceof Error && 'code' in error && (error.code === '55P03' || error.code === '40P01');

/**
 * Repeats `batch`, each time in a transaction of its own, until it changes nothing. It returns how many rows it changed, and
 * must find by itself which are left.
 */
export async function inBatches(
  { db, isFresh, progress }: Online,
  what: string,
  batch: (tx: Kysely<unknown>) => Promise<number>,
): Promise<void> {
  const repeat = (work: () => Promise<number>) => reportBatches(progress, what, work);
  await (isFresh ? repeat(() => batch(db)) : repeat(() => db.transaction().execute(batch)));
}

async function reportBatches(progress: Progress, what: string, work: () => Promise<number>): Promise<void> {
  const begun = performance.now();
  let reported = begun;
  let total = 0;
  for (;;) {
    const changed = await work();
    if (changed === 0) break;
    total += changed;
    if (performance.now() - reported < reportMilliseconds) continue;
    reported = performance.now();
    progress(`${what}: ${total} rows`);
  }
  if (total > 0) progress(`${what}: done, ${total} rows in ${seconds(begun)} s`);
}

const seconds = (begun: number) => ((performance.now() - begun) / 1000).toFixed(1);
