// Deletes what is kept for a limited time, and notes facts about the running service.
import { pruneAuditEntries } from '../store/audit.ts';
import type { Db } from '../store/database.ts';
import { pruneEvents } from '../store/events.ts';
import { pruneIdempotencyKeys } from '../store/idempotency-keys.ts';
import { deleteRateLimits } from '../store/rate-limits.ts';
import { savePublicUrl } from '../store/settings.ts';

export const deleteOldEvents = (db: Db, before: Date): Promise<number> => pruneEvents(db, before);

export const deleteOldAuditEntries = (db: Db, before: Date): Promise<number> => pruneAuditEntries(db, before);

export const deleteOldRateLimits = (db: Db, now: Date): Promise<number> => deleteRateLimits(db, now);

export const deleteOldIdempotencyKeys = (db: Db, before: Date): Promise<number> =>
  pruneIdempotencyKeys(db, before);

export const notePublicUrl = async (db: Db, url: string): Promise<void> => {
  await savePublicUrl(db, url);
};
