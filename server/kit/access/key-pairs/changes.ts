import { createPublicKey, type KeyObject } from 'node:crypto';
import { sql } from 'kysely';
import { notBack } from '../../database/columns.ts';
import type { Db, Tx } from '../../database/database.ts';
import type { Work } from '../../database/unit-of-work.ts';
import type { Accounts } from '../../rules/accounts.ts';
import { findAccounts } from '../accounts/queries.ts';
import { lockRoles } from '../roles/queries.ts';
import { algorithmOf, thumbprint } from '../token.ts';
import { findApiKeyPair, insertApiKeyPair, replaceAccountsOf } from './queries.ts';
import type { ApiKeyPairRow } from './table.ts';

interface NewKeyPair {
  privateKey: KeyObject;
  name: string;
  roles: readonly string[];
  accounts: Accounts;
}

interface Stored {
  kind: 'stored';
  pair: ApiKeyPairRow;
}

interface NoAccounts {
  kind: 'noAccounts';
  ids: string[];
}

/** The roles or merchant accounts that do not exist. */
export type Missing = { kind: 'noRoles'; slugs: string[] } | NoAccounts;

export async function createKeyPair(
  { db }: Work,
  { privateKey, name, roles: slugs, accounts }: NewKeyPair,
): Promise<Stored | Missing> {
  const roles = await lockRoles(db, slugs);
  const noRole = slugs.filter((slug) => !roles.some((role) => role.slug === slug));
  if (noRole.length > 0) return { kind: 'noRoles', slugs: noRole };
  const noAccount = await listMissing(db, accounts);
  if (noAccount.length > 0) return { kind: 'noAccounts', ids: noAccount };
  const algorithm = algorithmOf(privateKey);
  if (!algorithm) throw new Error('The key is neither ECDSA on P-521 nor RSA of 2048 bits or more.');
  const id = await insertApiKeyPair(
    db,
    {
      thumbprint: thumbprint(privateKey),
      display_name: name,
      algorithm,
      public_key: createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }) as string,
    },
    roles.map((role) => role.id),
    accounts,
  );
  const made = await findApiKeyPair(db, id);
  if (!made) throw new Error('The key pair that was just made is gone.');
  return { kind: 'stored', pair: made };
}

async function listMissing(db: Tx, accounts: Accounts): Promise<string[]> {
  const named = accounts === 'all' ? [] : accounts.only;
  const known = new Set((await findAccounts(db, named)).map(({ id }) => id));
  return named.filter((id) => !known.has(id));
}

/**
 * Undefined when there is no such pair. Instead of an empty list, a pair is deactivated: 1.1.0, which may run beside this version,
 * reads a pair without accounts as one for all.
 */
export async function updateAccountsOf(
  unit: Work,
  id: string,
  accounts: Accounts,
): Promise<Stored | NoAccounts | undefined> {
  const missing = await listMissing(unit.db, accounts);
  if (missing.length > 0) return { kind: 'noAccounts', ids: missing };
  const isThere = await replaceAccountsOf(unit, id, accounts);
  const pair = isThere ? await findApiKeyPair(unit.db, id) : undefined;
  return pair && { kind: 'stored', pair };
}

/** Undefined when there is no such pair. */
export async function deactivateKeyPair(
  { db, now }: Work,
  id: string,
): Promise<{ pair: ApiKeyPairRow; wasActive: boolean } | undefined> {
  const { numUpdatedRows } = await db
    .updateTable('api_key_pairs')
    .set({ active: false, updated_at: notBack(now) })
    .where('id', '=', id)
    .where('active', '=', true)
    .executeTakeFirst();
  const pair = await findApiKeyPair(db, id);
  return pair && { pair, wasActive: numUpdatedRows > 0n };
}

/** At most once a minute, also with several instances. No transaction, for which a request would have to wait to be authenticated. */
export const recordKeyPairUse = async (db: Db, id: string): Promise<void> => {
  await sql`
    update api_key_pairs set last_used_at = now()
    where id = ${id} and (last_used_at is null or last_used_at < now() - interval '1 minute')`.execute(db);
};
