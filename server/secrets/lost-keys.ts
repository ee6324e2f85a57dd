// Replaces digest keys that CARD_KEY does not open, because the card key that sealed them is lost. The old values are kept in the
// settings: if the card key is found after all, they can be put back. Neither a rotation nor `doctor` looks at them there.
import type { Db } from '../database/database.ts';
import type { Work } from '../database/unit-of-work.ts';
import { allAccounts } from '../rules/accounts.ts';
import { listSealedKeys, makeSealedKey, openKey, storeSealedKey, type StoredKey } from './digest-keys.ts';
import { findMissingKeys } from './reseal.ts';
import type { Vault } from './vault.ts';

function opens(vault: Vault, { account, sealed }: StoredKey): boolean {
  try {
    return sealed === null || openKey(vault, account, sealed).length > 0;
  } catch {
    return false;
  }
}

/** Empty when nothing is lost. Otherwise the key of the installation is among them, so that the next start finds one that opens. */
export async function listLostKeys(db: Db, vault: Vault): Promise<StoredKey[]> {
  const stored = await listSealedKeys(db);
  const lost = stored.filter((key) => !opens(vault, key));
  const isStartRefused = (await findMissingKeys(db, vault))?.isWhollyWrong === true;
  if (lost.length === 0 && !isStartRefused) return [];
  return stored.filter((key) => lost.includes(key) || (key.account === null && key.sealed === null));
}

export async function replaceKeys(
  { db, now }: Work,
  keys: readonly StoredKey[],
  vault: Vault,
): Promise<void> {
  for (const { account, sealed } of keys) {
    if (sealed !== null)
      await db
        .insertInto('settings')
        .values({ name: `lost_key_sealed ${now.toISOString()} ${account ?? allAccounts}`, value: sealed })
        .execute();
    await storeSealedKey(db, account, { sealed: makeSealedKey(vault, account), instead: sealed });
  }
}
