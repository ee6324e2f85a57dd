// Re-encrypts everything with the first card key, while the service runs, and notices keys that do not fit what is stored.
import type { Vault } from './vault.ts';
import type { Db } from '../database/database.ts';
import { OperatorFault } from '../operator-fault.ts';
import { findKeyIds, resealAll, waitForOlderTransactions, type ResealOptions } from './reseal.ts';

export interface ResealProgress {
  resealed: (values: number) => void;
  /** Waiting for transactions that may still commit values sealed with an older key. */
  waiting: () => void;
  pause: () => Promise<void>;
}

/** Until nothing is sealed with another key, and nothing more can arrive. Returns the number of values. */
export async function resealEverything(
  db: Db,
  { keyId, seal, open }: Vault,
  progress: ResealProgress,
): Promise<number> {
  let done = 0;
  const options: ResealOptions = {
    keyId,
    reseal: ({ table, sealed, place }) => {
      try {
        return seal(open(sealed, place), place);
      } catch (error) {
        throw new OperatorFault(`A value of ${table} ${place.id} does not open. See: payments doctor`, {
          cause: error,
        });
      }
    },
    onProgress: (values) => {
      done += values;
      progress.resealed(done);
    },
  };
  await resealAll(db, options);
  progress.waiting();
  await waitForOlderTransactions(db, progress.pause);
  while (!(await resealAll(db, options))) await progress.pause();
  return done;
}

export interface MissingKeys {
  /** IDs of the keys. */
  missing: string[];
  /** Whether no value of the sample fits a key that is given. */
  isWhollyWrong: boolean;
}

/** By a sample of the stored values. Undefined when none is missing. */
export async function findMissingKeys(db: Db, vault: Vault): Promise<MissingKeys | undefined> {
  const used = await findKeyIds(db);
  const missing = used.filter((id) => !vault.canOpen(id));
  return missing.length === 0 ? undefined : { missing, isWhollyWrong: missing.length === used.length };
}
