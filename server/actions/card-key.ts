// Re-encrypts everything with the first card key, while the service runs.
import type { Vault } from '../domain/vault.ts';
import type { Db } from '../store/database.ts';
import { countSealed, resealAll, waitForOlderTransactions, type ResealOptions } from '../store/reseal.ts';

export interface ResealProgress {
  resealed: (values: number) => void;
  /** Waiting for transactions that may still commit values sealed with an older key. */
  waiting: () => void;
  pause: () => Promise<void>;
}

/** Until nothing is sealed with another key and nothing more can arrive. Returns the number of values. */
export async function resealEverything(db: Db, vault: Vault, progress: ResealProgress): Promise<number> {
  const { keyId } = vault;
  let done = 0;
  const options: ResealOptions = {
    keyId,
    reseal: (sealed, purpose) => vault.seal(vault.open(sealed, purpose), purpose),
    onProgress: (values) => {
      done += values;
      progress.resealed(done);
    },
  };
  await resealAll(db, options);
  progress.waiting();
  await waitForOlderTransactions(db, progress.pause);
  for (;;) {
    await resealAll(db, options);
    const left = [...(await countSealed(db))].filter(([key]) => key !== keyId);
    if (left.length === 0) return done;
    await progress.pause();
  }
}
