// Re-encrypts everything with the first card key, bound to its place, while the service runs.
import type { Vault } from '../domain/vault.ts';
import type { Db } from '../store/database.ts';
import {
  countSealed,
  countUnbound,
  resealAll,
  waitForOlderTransactions,
  type ResealOptions,
} from '../store/reseal.ts';
import { beginBinding, findSealing, finishBinding } from '../store/sealing.ts';

export interface ResealProgress {
  resealed: (values: number) => void;
  /** Waiting for transactions that may still commit values sealed with an older key, or unbound ones. */
  waiting: () => void;
  pause: () => Promise<void>;
}

/** A value that cannot be sealed anew, because it does not open. */
export class UnopenableValue extends Error {
  constructor(table: string, id: string, cause: unknown) {
    super(`A value of ${table} ${id} does not open. See: payments doctor`, { cause });
  }
}

/**
 * Until nothing is sealed with another key or unbound, and nothing more can arrive; from then on unbound values are refused.
 * Returns the number of values.
 */
export async function resealEverything(db: Db, vault: Vault, progress: ResealProgress): Promise<number> {
  const { keyId } = vault;
  await beginBinding(db);
  const sealing = await findSealing(db);
  // An unbound value that appears after the end of a rotation may have been moved: it is not bound to where it is found.
  const binds = sealing !== 'bound';
  const { seal, open } = vault.under(sealing);
  let done = 0;
  const options: ResealOptions = {
    keyId,
    binds,
    reseal: ({ table, sealed, place }) => {
      try {
        return seal(open(sealed, place), place);
      } catch (error) {
        throw new UnopenableValue(table, place.id, error);
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
  for (;;) {
    await resealAll(db, options);
    const isDone =
      [...(await countSealed(db)).keys()].every((key) => key === keyId) &&
      (!binds || (await countUnbound(db)) === 0);
    if (isDone) break;
    await progress.pause();
  }
  await finishBinding(db);
  return done;
}
