// Finds the keys of an account's digests. The random key that they are derived from is made at its first use, and no process
// replaces it: only `secrets replace-lost-keys` does.
import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { programName } from '../../../generated/operations.ts';
import { inTransaction, type Db, type Tx } from '../database/database.ts';
import { OperatorFault, reasonOf } from '../faults.ts';
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

export function createKeysOf(vault: () => Vault): KeysOf {
  // A rotation of CARD_KEY leaves the keys as they are, so all processes have the same.
  const known = new Map<string | null, DigestKeys>();
  const look = createSingleFlight<DigestKeys>();
  const findOrMake = async (tx: Tx, account: string | null): Promise<DigestKeys> => {
    let sealed = await findSealedKey(tx, account);
    if (sealed === null) {
      await storeSealedKey(tx, account, { sealed: makeSealedKey(vault(), account), instead: null });
      // Another process may have been faster.
      sealed = await findSealedKey(tx, account);
    }
    if (sealed === null) throw new Error(`There is no merchant account ${account ?? ''}.`);
    return deriveKeys(openKey(vault(), account, sealed));
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

/** Call it inside the transaction that stores the key, because a rotation of CARD_KEY waits for transactions. */
export const makeSealedKey = ({ seal }: Vault, account: string | null): string =>
  seal(randomBytes(32).toString('base64'), bindingOf(account));

export function openKey({ open }: Vault, account: string | null, sealed: string): Buffer {
  try {
    return Buffer.from(open(sealed, bindingOf(account)), 'base64');
  } catch (error) {
    const owner = account === null ? 'the installation' : `merchant account ${account}`;
    // Without a cause: the log would repeat the reason after the command.
    throw new OperatorFault(
      `The digest key of ${owner} does not open: ${reasonOf(error)} If its card key is lost: ${programName} secrets replace-lost-keys`,
    );
  }
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

export interface StoredKey {
  account: string | null;
  sealed: string | null;
}

export async function listSealedKeys(db: Db): Promise<StoredKey[]> {
  const { rows } = await sql<StoredKey>`
    select id as account, key_sealed as sealed from merchant_accounts order by id`.execute(db);
  return [...rows, { account: null, sealed: await findSealedKey(db, null) }];
}

/** Does nothing if another process has stored one meanwhile: `instead` is the one that is replaced, null if there is none. */
export async function storeSealedKey(
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
