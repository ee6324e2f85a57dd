// What the service does by itself, without anybody asking: once at its start, then once a day. Any number of instances may
// do it at once; each change is decided on a locked row.
import type { Kysely } from 'kysely';
import type { Logger } from 'pino';
import { pruneEvents } from './store/events.ts';
import { applyExpiredReplacements, type Changed } from './store/payment-method-moves.ts';
import { pruneRateLimits } from './store/rate-limits.ts';
import type { Tables } from './store/schema.ts';

export interface Jobs {
  /** Waits for what is under way. */
  stop: () => Promise<void>;
}

export interface JobsOptions {
  db: Kysely<Tables>;
  log: Logger;
  now: () => Date;
  /** Told of every change, in its transaction. */
  changed: Changed;
  everyMilliseconds?: number | undefined;
}

const day = 86_400_000;

/** As long as an event and its deliveries can be looked at and replayed. */
export const keepEventsDays = 30;

export function startJobs({ db, log, now, changed, everyMilliseconds = day }: JobsOptions): Jobs {
  /** Each says how much it did. */
  const jobs: Record<string, () => Promise<number>> = {
    'expired-cards': async () => (await applyExpiredReplacements(db, now(), changed)).length,
    'old-events': () => pruneEvents(db, new Date(now().getTime() - keepEventsDays * day)),
    'old-rate-limits': () => pruneRateLimits(db, now()),
  };
  const work = async () => {
    for (const [job, run] of Object.entries(jobs)) {
      try {
        log.info({ job, done: await run() }, 'daily job done');
      } catch (error) {
        // The next day tries again, and so does the next start.
        log.error({ job, err: error }, 'the daily job failed');
      }
    }
  };
  let running = work();
  const timer = setInterval(() => {
    running = running.then(work);
  }, everyMilliseconds);
  timer.unref();
  return {
    stop: () => {
      clearInterval(timer);
      return running;
    },
  };
}
