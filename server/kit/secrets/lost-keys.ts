// Replaces digest keys that CARD_KEY does not open, because the card key that sealed them is lost. The old values are kept in the
// settings, and put back if CARD_KEY was only mistyped. Neither a rotation nor `doctor` looks at them there.
import { sql } from 'kysely';
import type { Db } from '../database/database.ts';
import type { Work } from '../database/unit-of-work.ts';
import { allAccounts } from '../rules/accounts.ts';
import { listSealedKeys, makeSealedKey, openKey, storeSealedKey, type StoredKey } from './digest-keys.ts';
import { findMissingKeys, type Sealed } from './reseal.ts';
import type { Vault } from './vault.ts';

function opens(vault: Vault, { account, sealed }: StoredKey): boolean {
  try {
    return sealed === null || openKey(vault, account, sealed).length > 0;
  } catch {
    return false;
  }
}

export interface LostKey extends StoredKey {
  /** One that an earlier call replaced, and that opens: it is put back. */
  kept: string | undefined;
}

const nameOf = (account: string | null) => account ?? allAccounts;

/** Empty when nothing is lost. Otherwise the key of the installation is among them, so that the next start finds one that opens. */
export async function listLostKeys(db: Db, columns: readonly Sealed[], vault: Vault): Promise<LostKey[]> {
  const stored = await listSealedKeys(db);
  const lost = stored.filter((key) => !opens(vault, key));
  const isStartRefused = (await findMissingKeys(db, columns, vault))?.isWhollyWrong === true;
  if (lost.length === 0 && !isStartRefused) return [];
  const { rows } = await sql<{ name: string; sealed: string }>`
    select regexp_replace(name, '^lost_key_sealed \\S+ ', '') as name, value as sealed
    from settings where starts_with(name, 'lost_key_sealed ') order by settings.name desc`.execute(db);
  return stored
    .filter((key) => lost.includes(key) || (key.account === null && key.sealed === null))
    .map(({ account, sealed }) => {
      const isOwn = (one: (typeof rows)[number]) =>
        one.name === nameOf(account) && opens(vault, { account, sealed: one.sealed });
      return { account, sealed, kept: rows.find(isOwn)?.sealed };
    });
}

export async function replaceKeys({ db, now }: Work, keys: readonly LostKey[], vault: Vault): Promise<void> {
  for (const { account, sealed, kept } of keys) {
    if (sealed !== null)
      await db
        .insertInto('settings')
        .values({ name: `lost_key_sealed ${now.toISOString()} ${nameOf(account)}`, value: sealed })
        .execute();
    const replacement = kept ?? makeSealedKey(vault, account);
    await storeSealedKey(db, account, { sealed: replacement, instead: sealed });
  }
}
