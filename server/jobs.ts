// Background jobs, run at start-up and then once a day. Several instances may run them at the same time, because each change
// locks its row first.
import type { Logger } from 'pino';
import {
  deleteOldAuditEntries,
  deleteOldEvents,
  deleteOldIdempotencyKeys,
  deleteOldRateLimits,
} from './actions/housekeeping.ts';
import { applyExpiredReplacements } from './actions/payment-methods.ts';
import type { InUnitOfWork } from './actions/unit-of-work.ts';
import { isDoneWithin } from './domain/deadline.ts';
import { keepKeyMilliseconds } from './domain/idempotency.ts';
import type { Db } from './store/database.ts';

export interface Jobs {
  /** Starts no other job, and waits a while for the running one. What it did not commit is left to the next start. */
  stop: () => Promise<void>;
}

export interface JobsOptions {
  db: Db;
  inUnitOfWork: InUnitOfWork;
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
  const daysAgo = (days: number) => new Date(now().getTime() - days * day);
  /** Each returns how many records it changed. */
  const jobs: Record<string, () => Promise<number>> = {
    'expired-cards': async () => (await applyExpiredReplacements(db, inUnitOfWork)).length,
    'old-events': () => deleteOldEvents(db, daysAgo(eventRetentionDays)),
    ...(auditRetentionDays !== undefined && {
      'old-audit-entries': () => deleteOldAuditEntries(db, daysAgo(auditRetentionDays)),
    }),
    'old-idempotency-keys': () =>
      deleteOldIdempotencyKeys(db, new Date(now().getTime() - keepKeyMilliseconds)),
    'old-rate-limits': () => deleteOldRateLimits(db, now()),
  };
  let stopping = false;
  const runAll = async () => {
    for (const [job, run] of Object.entries(jobs)) {
      if (stopping) return;
      try {
        log.info({ job, done: await run() }, 'daily job done');
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
