// Background jobs, run at start-up and then once a day, by one instance at a time. Each instance also looks at its clock.
import { setTimeout as wait } from 'node:timers/promises';
import { sql } from 'kysely';
import { listAccountsWith } from '../database/across-accounts.ts';
import { type Db, inTransaction } from '../database/database.ts';
import { withLock } from '../database/unit-of-work.ts';
import { isDoneWithin } from '../rules/async.ts';
import { earlier, type DatabaseTime } from '../rules/database-time.ts';
import { describeDifference, readSecondsAhead } from './clock.ts';
import type { AllFacts, DailyDeps, KitFacts, Retention, RetentionDays } from './facts.ts';

/** Each returns how many records it changed. */
type Jobs = Record<string, () => Promise<number>>;

interface JobsOptions extends RetentionDays, DailyDeps {
  facts: AllFacts;
  /** The clock of this process. */
  here: () => Date;
  everyMilliseconds?: number | undefined;
}

const day = 86_400_000;
const stopMilliseconds = 10_000;

export function startJobs(options: JobsOptions) {
  const { db, log, here, facts, everyMilliseconds = day } = options;
  let stopping = false;
  const isStopping = () => stopping;
  const jobsAt = (now: DatabaseTime): Jobs => {
    const jobs: Jobs = {};
    for (const [name, { daily, retention, ...table }] of Object.entries(facts)) {
      if (daily !== 'none') for (const [job, run] of Object.entries(daily)) jobs[job] = () => run(options);
      const milliseconds = retention === 'forever' ? undefined : retention.milliseconds(options);
      if (retention === 'forever' || milliseconds === undefined) continue;
      const expired = { before: earlier(now, milliseconds), isStopping };
      jobs[retention.job] = () => deleteExpired(db, { ...table, name, retention }, expired);
    }
    return jobs;
  };
  const runAll = async () => {
    try {
      const difference = describeDifference(await readSecondsAhead(db, here));
      if (difference !== undefined) log.warn(difference);
      const isDone = await withLock(db, 'daily jobs', runEach);
      if (!isDone) log.debug('another instance runs the daily jobs');
    } catch (error) {
      log.error({ job: 'all', err: error }, 'the daily job failed');
    }
  };
  const runEach = async (now: DatabaseTime) => {
    for (const [job, run] of Object.entries(jobsAt(now))) {
      if (stopping) return;
      try {
        const done = await run();
        // Most find nothing to do on most days.
        log[done === 0 ? 'debug' : 'info']({ job, done }, 'daily job done');
      } catch (error) {
        // The next run tries again.
        log.error({ job, err: error }, 'the daily job failed');
      }
    }
  };
  let running = runAll();
  const timer = setInterval(() => {
    running = running.then(runAll);
  }, everyMilliseconds);
  timer.unref();
  return {
    /** Starts no other job, and waits a while for the running one. What it did not commit is left to the next start. */
    stop: async (): Promise<void> => {
      stopping = true;
      clearInterval(timer);
      await isDoneWithin(stopMilliseconds, running);
    },
  };
}

// Deletes what is kept for a limited time, in batches along an index: see docs/decisions/0019-retention.md.

type Kept = Pick<KitFacts<string>, 'key' | 'isByAccount'> & { name: string; retention: Retention };

const batchSize = 200;

interface Expired {
  /** Rows of this time and before. */
  before: DatabaseTime;
  isStopping?: () => boolean;
}

/** Returns how many rows were deleted. Rows that others have locked are left for the next time. */
export async function deleteExpired(db: Db, table: Kept, expired: Expired): Promise<number> {
  const isOld = sql`${sql.ref(table.retention.time)} <= ${expired.before}`;
  const accounts = table.isByAccount ? await listAccountsWith(db, table.name, isOld) : [undefined];
  let deleted = 0;
  for (const account of accounts) deleted += await deleteOf(db, table, account, expired);
  return deleted;
}

async function deleteOf(db: Db, table: Kept, account: string | undefined, expired: Expired): Promise<number> {
  let deleted = 0;
  let from: Date | number | undefined;
  while (!expired.isStopping?.()) {
    const begun = performance.now();
    const times = await deleteBatch(db, table, account, { from, before: expired.before });
    deleted += times.length;
    if (times.length < batchSize) break;
    // The next batch does not go through the entries of deleted rows, which the index keeps until it is vacuumed.
    from = times.reduce((one, other) => (other > one ? other : one));
    // Twice as long as the batch took, so that others have the database for most of the time, and for longer the busier it is.
    await wait(2 * (performance.now() - begun));
  }
  return deleted;
}

/** Returns the times of the rows that it deleted. */
const deleteBatch = (
  db: Db,
  { name, key, retention: { time, isNumber, unless, andThen } }: Kept,
  account: string | undefined,
  { from, before }: { from: Date | number | undefined; before: DatabaseTime },
): Promise<(Date | number)[]> =>
  inTransaction(db, async (tx) => {
    const last = isNumber ? before.getTime() : before;
    const [table, at] = [sql.table(name), sql.ref(time)];
    const [first = '', ...others] = Object.keys(key);
    const columns = sql.join([first, ...others].map((column) => sql.ref(column)));
    const isOwn = account === undefined ? sql`true` : sql`merchant_account_id = ${account}`;
    const isNext = from === undefined ? sql`true` : sql`${at} >= ${from}`;
    const isKept = account === undefined || !unless ? sql`false` : unless(account);
    const { rows } = await sql<{ key: string; time: Date | number }>`
      delete from ${table} where ${isOwn} and (${columns}) in (
        select ${columns} from ${table} where ${isOwn} and ${at} <= ${last} and ${isNext} and not ${isKept}
        order by ${at} limit ${batchSize} for update skip locked)
      returning ${sql.ref(first)} as key, ${at} as time`.execute(tx);
    const keys = rows.map((row) => row.key);
    if (account !== undefined && keys.length > 0) await andThen?.(tx, account, keys);
    return rows.map((row) => row.time);
  });
