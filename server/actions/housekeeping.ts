// Deletes what is kept for a limited time, and notes facts about the running service.
import type { Db } from '../store/database.ts';
import { claimDatabase } from '../store/environment.ts';
import { withLock } from '../store/locks.ts';
import { deleteExpired, type Expired, type KeptTable } from '../store/retention.ts';
import { savePublicUrl } from '../store/settings.ts';
import type { Work } from './unit-of-work.ts';

/** Undefined, without a call of `work`, when another process does it. */
export const inOneInstance = <T>(db: Db, work: () => Promise<T>) => withLock(db, 'daily jobs', work);

export const deleteOld = (db: Db, table: KeptTable, expired: Expired): Promise<number> =>
  deleteExpired(db, table, expired);

/** Refuses a database that belongs to production. */
export const claimForSandbox = ({ db }: Work): Promise<void> => claimDatabase(db, 'sandbox');

export const notePublicUrl = async (db: Db, url: string): Promise<void> => {
  await savePublicUrl(db, url);
};
