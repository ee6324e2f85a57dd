// What the service does by itself, without anybody asking: once at its start, then once a day. Any number of instances may
// do it at once; each change is decided on a locked row.
import type { Kysely } from 'kysely';
import type { Logger } from 'pino';
import { applyExpiredReplacements, type Changed } from './store/payment-method-moves.ts';
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

export function startJobs({ db, log, now, changed, everyMilliseconds = day }: JobsOptions): Jobs {
  const work = async () => {
    try {
      const applied = await applyExpiredReplacements(db, now(), changed);
      log.info({ job: 'expired-cards', applied: applied.length }, 'replacements of expired cards applied');
    } catch (error) {
      // The next day tries again, and so does the next start.
      log.error({ job: 'expired-cards', err: error }, 'the daily job failed');
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
