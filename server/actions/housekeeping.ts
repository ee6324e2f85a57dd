// Deletes what is kept for a limited time, makes partitions for what comes, and notes facts about the running service.
import { partitionDays } from '../domain/time-ranges.ts';
import { pruneAuditEntries } from '../store/audit.ts';
import { pruneCardNumbers } from '../store/card-numbers.ts';
import type { Db } from '../store/database.ts';
import { claimDatabase } from '../store/environment.ts';
import { pruneEvents } from '../store/event-retention.ts';
import { pruneIdempotencyKeys } from '../store/idempotency-keys.ts';
import { withLock } from '../store/locks.ts';
import { makePartitions } from '../store/partitions.ts';
import { answers, eventTables } from '../store/tables/partitioned.ts';
import { deleteRateLimits } from '../store/rate-limits.ts';
import { savePublicUrl } from '../store/settings.ts';
import type { Work } from './unit-of-work.ts';

/** Undefined, without a call of `work`, when another process does it. */
export const inOneInstance = <T>(db: Db, work: () => Promise<T>) => withLock(db, 'daily jobs', work);

/** How long answers are kept, in whole days. */
const answerDays = 1;

export async function preparePartitions(db: Db, now: Date, eventRetentionDays: number): Promise<number> {
  let made = await makePartitions(db, answers, { now, days: partitionDays(answerDays) });
  const days = partitionDays(eventRetentionDays);
  for (const table of Object.values(eventTables)) made += await makePartitions(db, table, { now, days });
  return made;
}

export const deleteOldEvents = (db: Db, before: Date): Promise<number> => pruneEvents(db, before);

export const deleteOldAuditEntries = (db: Db, before: Date): Promise<number> => pruneAuditEntries(db, before);

export const deleteOldRateLimits = (db: Db, now: Date): Promise<number> => deleteRateLimits(db, now);

export const deleteOldIdempotencyKeys = (db: Db, before: Date): Promise<number> =>
  pruneIdempotencyKeys(db, before);

export const deleteOldCardNumbers = (db: Db, before: Date): Promise<number> => pruneCardNumbers(db, before);

/** Refuses a database that belongs to production. */
export const claimForSandbox = ({ db }: Work): Promise<void> => claimDatabase(db, 'sandbox');

export const notePublicUrl = async (db: Db, url: string): Promise<void> => {
  await savePublicUrl(db, url);
};
