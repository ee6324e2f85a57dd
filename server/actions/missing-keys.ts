// Notices card keys that do not fit the stored values, by a sample of them.
import type { Vault } from '../domain/vault.ts';
import type { Db } from '../store/database.ts';
import { findKeyIds } from '../store/reseal.ts';

export interface MissingKeys {
  /** IDs of the keys. */
  missing: string[];
  /** Whether no value of the sample fits a key that is given. */
  isWhollyWrong: boolean;
}

/** Undefined when none is missing. */
export async function findMissingKeys(db: Db, vault: Vault): Promise<MissingKeys | undefined> {
  const used = await findKeyIds(db);
  const missing = used.filter((id) => !vault.canOpen(id));
  return missing.length === 0 ? undefined : { missing, isWhollyWrong: missing.length === used.length };
}
