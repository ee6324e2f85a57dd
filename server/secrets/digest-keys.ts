// Finds the keys of an account's digests. The random key that they are derived from is made at its first use.
import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { inTransaction, type Db, type Tx } from '../database/database.ts';
import { createSingleFlight } from '../rules/async.ts';
import { deriveKeys, type DigestKeys } from './derive-keys.ts';
import type { Binding, Vault } from './vault.ts';

/** Null for requests that are about several accounts or none: these have a key of the installation. */
export type KeysOf = (db: Db, account: string | null) => Promise<DigestKeys>;

const bindingOf = (account: string | null): Binding => ({
  purpose: 'digest-key',
  owner: account,
  id: account ?? settingName,
});

interface Options {
  vault: () => Vault;
  /** Whether a key that does not open is replaced, because the CARD_KEY that sealed it is lost. */
  replaces: boolean;
}

export function createKeysOf({ vault, replaces }: Options): KeysOf {
  // A rotation of CARD_KEY leaves the keys as they are. Only a process that cannot open a key replaces it, so all processes with
  // the same CARD_KEY have the same keys.
  const known = new Map<string | null, DigestKeys>();
  const look = createSingleFlight<DigestKeys>();
  const opens = (sealed: string, account: string | null): boolean => {
    try {
      vault().open(sealed, bindingOf(account));
      return true;
    } catch (error) {
      if (replaces) return false;
      throw error;
    }
  };
  const findOrMake = async (tx: Tx, account: string | null): Promise<DigestKeys> => {
    const { seal, open } = vault();
    let sealed = await findSealedKey(tx, account);
    if (sealed === null || !opens(sealed, account)) {
      // Sealed inside the transaction, because a rotation of CARD_KEY waits for transactions.
      const fresh = seal(randomBytes(32).toString('base64'), bindingOf(account));
      await storeSealedKey(tx, account, { sealed: fresh, instead: sealed });
      // Another process may have been faster.
      sealed = await findSealedKey(tx, account);
    }
    if (sealed === null) throw new Error(`There is no merchant account ${account ?? ''}.`);
    return deriveKeys(Buffer.from(open(sealed, bindingOf(account)), 'base64'));
  };
  return async (db, account) => {
    const found = known.get(account);
    if (found) return found;
    // Not remembered: a transaction of the caller may be rolled back, and a new key with it.
    if (db.isTransaction) return findOrMake(db as Tx, account);
    const keys = await look(account, () => inTransaction(db, (tx) => findOrMake(tx, account)));
    known.set(account, keys);
    return keys;
  };
}

/** Null before its first use. `account` is null for the key of the installation. */
async function findSealedKey(db: Db, account: string | null): Promise<string | null> {
  const { rows } = await (
    account === null
      ? sql<{ sealed: string }>`select value as sealed from settings where name = ${settingName}`
      : sql<{
          sealed: string | null;
        }>`select key_sealed as sealed from merchant_accounts where id = ${account}`
  ).execute(db);
  return rows[0]?.sealed ?? null;
}

export const settingName = 'installation_key_sealed';

/** Does nothing if another process has stored one meanwhile: `instead` is the one that is replaced, null if there is none. */
async function storeSealedKey(
  tx: Tx,
  account: string | null,
  { sealed, instead }: { sealed: string; instead: string | null },
): Promise<void> {
  await (
    account === null
      ? sql`
        insert into settings (name, value) values (${settingName}, ${sealed})
        on conflict (name) do update set value = excluded.value where settings.value = ${instead}`
      : sql`
        update merchant_accounts set key_sealed = ${sealed}
        where id = ${account} and key_sealed is not distinct from ${instead}`
  ).execute(tx);
}
