// Background jobs, run at start-up and then once a day, by one instance at a time.
import type { Logger } from 'pino';
import { withLock } from '../database/locks.ts';
import { deleteExpired } from './retention.ts';
import { applyExpiredReplacements } from '../resources/payment-methods/changes.ts';
import type { InUnitOfWork } from '../database/unit-of-work.ts';
import { isDoneWithin } from '../rules/deadline.ts';
import { keepKeyMilliseconds } from '../resources/idempotency-keys/rules.ts';
import type { Db } from '../database/database.ts';

export interface Jobs {
  /** Starts no other job, and waits a while for the running one. What it did not commit is left to the next start. */
  stop: () => Promise<void>;
}

export interface JobsOptions {
  db: Db;
  inUnitOfWork: InUnitOfWork;
  /** How long the numbers of the limit on storing cards are remembered. */
  rememberNumbersMilliseconds: number;
  log: Logger;
  now: () => Date;
  /** Events and their deliveries; until then they can be listed and replayed. */
  eventRetentionDays: number;
  /** Undefined: for ever. */
  auditRetentionDays: number | undefined;
  everyMilliseconds?: number | undefined;
}

const day = 86_400_000;
const stopMilliseconds = 10_000;

export function startJobs(options: JobsOptions): Jobs {
  const {
    db,
    inUnitOfWork,
    log,
    now,
    eventRetentionDays,
    auditRetentionDays,
    everyMilliseconds = day,
  } = options;
  let stopping = false;
  const isStopping = () => stopping;
  const ago = (milliseconds: number) => ({
    before: new Date(now().getTime() - milliseconds),
    isStopping,
  });
  /** Each returns how many records it changed. */
  const jobs: Record<string, () => Promise<number>> = {
    'expired-cards': async () => (await applyExpiredReplacements(db, inUnitOfWork, now)).length,
    'old-events': () => deleteExpired(db, 'events', ago(eventRetentionDays * day)),
    ...(auditRetentionDays !== undefined && {
      'old-audit-entries': () => deleteExpired(db, 'audit_entries', ago(auditRetentionDays * day)),
    }),
    'old-idempotency-keys': () => deleteExpired(db, 'idempotency_keys', ago(keepKeyMilliseconds)),
    // A minute later than they end, because clocks differ.
    'old-rate-limits': () =>
      deleteExpired(db, 'rate_limits', { before: now().getTime() - 60_000, isStopping }),
    'old-card-numbers': () => deleteExpired(db, 'card_numbers', ago(options.rememberNumbersMilliseconds)),
  };
  const runAll = async () => {
    try {
      const isDone = await withLock(db, 'daily jobs', runEach);
      if (!isDone) log.debug('another instance runs the daily jobs');
    } catch (error) {
      log.error({ job: 'all', err: error }, 'the daily job failed');
    }
  };
  const runEach = async () => {
    for (const [job, run] of Object.entries(jobs)) {
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
    stop: async () => {
      stopping = true;
      clearInterval(timer);
      await isDoneWithin(stopMilliseconds, running);
    },
  };
}
