// The daily jobs of payments: see kit/upkeep/jobs.ts.
import type { Logger } from 'pino';
import type { Db } from '../kit/database/database.ts';
import type { InUnitOfWork } from '../kit/database/unit-of-work.ts';
import { earlier, type DatabaseTime } from '../kit/rules/database-time.ts';
import { deleteExpired, type Jobs } from '../kit/upkeep/jobs.ts';
import { rememberNumbersMilliseconds } from './number-limits/velocity.ts';
import { applyExpiredReplacements } from './payment-methods/changes.ts';

const hour = 3_600_000;

export const jobsOf =
  (db: Db, inUnitOfWork: InUnitOfWork, log: Logger, remember = rememberNumbersMilliseconds) =>
  (now: DatabaseTime, isStopping: () => boolean): Jobs => {
    const ago = (milliseconds: number) => ({ before: earlier(now, milliseconds), isStopping });
    return {
      'expired-cards': async () => {
        const applied = await applyExpiredReplacements(db, inUnitOfWork, (id, err) => {
          const facts = { job: 'expired-cards', payment_method_id: id, err };
          log.error(facts, 'the replacement of a card could not be applied');
        });
        return applied.length;
      },
      'old-card-numbers': () => deleteExpired(db, 'number_buckets', ago(remember + hour)),
      'card-numbers-of-1.0': () => deleteExpired(db, 'card_numbers', ago(remember)),
    };
  };
