// Background jobs, run at start-up and then once a day, by one instance at a time. Each instance also looks at its clock.
import { setTimeout as wait } from 'node:timers/promises';
import { sql, type RawBuilder } from 'kysely';
import type { Logger } from 'pino';
import { listAccountsWith } from '../database/across-accounts.ts';
import { type Db, inTransaction, type Tx } from '../database/database.ts';
import { withLock } from '../database/unit-of-work.ts';
import { deleteDeliveriesOf } from '../events/outbox.ts';
import { keepKeySeconds } from '../idempotency/rules.ts';
import { isDoneWithin } from '../rules/async.ts';
import { earlier, type DatabaseTime } from '../rules/database-time.ts';
import { describeDifference, readSecondsAhead } from './clock.ts';

/** Each returns how many records it changed. */
export type Jobs = Record<string, () => Promise<number>>;

interface JobsOptions {
  db: Db;
  /** Those of the domain. */
  own: (now: DatabaseTime, isStopping: () => boolean) => Jobs;
  log: Logger;
  /** The clock of this process. */
  here: () => Date;
  /** Events and their deliveries; until then they can be listed and replayed. */
  eventRetentionDays: number;
  /** Undefined: for ever. */
  auditRetentionDays: number | undefined;
  everyMilliseconds?: number | undefined;
}

const hour = 3_600_000;
const day = 24 * hour;
const stopMilliseconds = 10_000;

export function startJobs(options: JobsOptions) {
  const { db, log, here, eventRetentionDays, auditRetentionDays, everyMilliseconds = day } = options;
  let stopping = false;
  const isStopping = () => stopping;
  const jobsAt = (now: DatabaseTime): Jobs => {
    const ago = (milliseconds: number) => ({ before: earlier(now, milliseconds), isStopping });
    return {
      ...options.own(now, isStopping),
      'old-events': () => deleteExpired(db, 'events', ago(eventRetentionDays * day)),
      ...(auditRetentionDays !== undefined && {
        'old-audit-entries': () => deleteExpired(db, 'audit_entries', ago(auditRetentionDays * day)),
      }),
      'old-idempotency-keys': () => deleteExpired(db, 'idempotency_keys', ago(1000 * keepKeySeconds + hour)),
      'old-rate-limits': () => deleteExpired(db, 'rate_limits', ago(60_000)),
    };
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

interface Kept {
  /** The columns of its primary key, without the merchant account. */
  key: readonly string[];
  /** The column that tells its age. An index begins with it, or with the merchant account and it. */
  time: string;
  /** Whether that column has milliseconds since 1970. */
  isNumber?: true;
  /** Whether its rows belong to merchant accounts. */
  byAccount: boolean;
  /** What is kept however old it is. */
  unless?: (account: string) => RawBuilder<unknown>;
  /** Deletes what belongs to these rows. */
  andThen?: (tx: Tx, account: string, keys: readonly string[]) => Promise<void>;
}

/**
 * Of a subscription that exists: nobody else will end it. With a limit, so that PostgreSQL looks for each event by an index; as a
 * join it may read all pending deliveries for each batch.
 */
const hasPending = (account: string) => sql`coalesce((
  select true from deliveries where merchant_account_id = ${account} and event_id = events.id and state = 'pending'
    and exists (select from webhook_subscriptions where webhook_subscriptions.id = subscription_id) limit 1), false)`;

const kept = {
  events: {
    key: ['id'],
    time: 'created_at',
    byAccount: true,
    unless: hasPending,
    andThen: deleteDeliveriesOf,
  },
  idempotency_keys: { key: ['slot'], time: 'created_at', byAccount: true },
  // The database refuses to delete entries of the last 90 days.
  audit_entries: { key: ['id'], time: 'at', byAccount: false },
  rate_limits: { key: ['key'], time: 'expire', isNumber: true, byAccount: false },
  card_numbers: { key: ['bucket', 'number'], time: 'seen_at', byAccount: false },
  number_buckets: { key: ['bucket'], time: 'changed_at', byAccount: false },
} as const satisfies Record<string, Kept>;

type KeptTable = keyof typeof kept;

const batchSize = 200;

interface Expired {
  /** Rows of this time and before. */
  before: DatabaseTime;
  isStopping?: () => boolean;
}

/** Returns how many rows were deleted. Rows that others have locked are left for the next time. */
export async function deleteExpired(db: Db, table: KeptTable, expired: Expired): Promise<number> {
  if (!kept[table].byAccount) return deleteOf(db, table, undefined, expired);
  let deleted = 0;
  const isOld = sql`${sql.ref(kept[table].time)} <= ${expired.before}`;
  for (const account of await listAccountsWith(db, table, isOld))
    deleted += await deleteOf(db, table, account, expired);
  return deleted;
}

async function deleteOf(
  db: Db,
  table: KeptTable,
  account: string | undefined,
  { before, isStopping = () => false }: Expired,
): Promise<number> {
  let deleted = 0;
  let from: Date | number | undefined;
  while (!isStopping()) {
    const begun = performance.now();
    const times = await deleteBatch(db, table, account, { from, before });
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
  name: KeptTable,
  account: string | undefined,
  { from, before }: { from: Date | number | undefined; before: DatabaseTime },
): Promise<(Date | number)[]> =>
  inTransaction(db, async (tx) => {
    const { key, time, isNumber, unless, andThen }: Kept = kept[name];
    const last = isNumber ? before.getTime() : before;
    const [table, at] = [sql.table(name), sql.ref(time)];
    const columns = sql.join(key.map((column) => sql.ref(column)));
    const isOwn = account === undefined ? sql`true` : sql`merchant_account_id = ${account}`;
    const isNext = from === undefined ? sql`true` : sql`${at} >= ${from}`;
    const isKept = account === undefined || !unless ? sql`false` : unless(account);
    const { rows } = await sql<{ key: string; time: Date | number }>`
      delete from ${table} where ${isOwn} and (${columns}) in (
        select ${columns} from ${table} where ${isOwn} and ${at} <= ${last} and ${isNext} and not ${isKept}
        order by ${at} limit ${batchSize} for update skip locked)
      returning ${sql.ref(key[0] ?? '')} as key, ${at} as time`.execute(tx);
    if (account !== undefined && rows.length > 0)
      await andThen?.(
        tx,
        account,
        rows.map((row) => row.key),
      );
    return rows.map((row) => row.time);
  });
