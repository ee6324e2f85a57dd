import { sql } from 'kysely';
import { jsonArrayFrom } from 'kysely/helpers/postgres';
import { isAmong } from '../../database/across-accounts.ts';
import { notBack } from '../../database/columns.ts';
import type { Db, Tx } from '../../database/database.ts';
import { fetchPage } from '../../database/paging.ts';
import type { Work } from '../../database/unit-of-work.ts';
import type { Accounts } from '../../rules/accounts.ts';
import type { Cursor } from '../../rules/cursor.ts';
import type { SigningPair } from '../bearer.ts';
import { accountsOf, isUsable } from './table.ts';

const withRelations = (db: Db) =>
  db
    .selectFrom('api_key_pairs')
    .selectAll('api_key_pairs')
    .select((pair) => [
      jsonArrayFrom(
        pair
          .selectFrom('roles')
          .innerJoin('api_key_pair_roles', 'api_key_pair_roles.role_id', 'roles.id')
          .whereRef('api_key_pair_roles.api_key_pair_id', '=', 'api_key_pairs.id')
          .selectAll('roles')
          .orderBy('roles.slug'),
      ).as('roles'),
      jsonArrayFrom(
        pair
          .selectFrom('merchant_accounts')
          .innerJoin(
            'api_key_pair_merchant_accounts as own',
            'own.merchant_account_id',
            'merchant_accounts.id',
          )
          .whereRef('own.api_key_pair_id', '=', 'api_key_pairs.id')
          .selectAll('merchant_accounts')
          .orderBy('merchant_accounts.created_at')
          .orderBy('merchant_accounts.id'),
      ).as('merchant_accounts'),
    ]);

/** A caller with access to all accounts sees all pairs; other callers see pairs that have access to no other accounts. */
export function listApiKeyPairPage(
  db: Db,
  own: Accounts,
  page: { limit: number; cursor: Cursor | undefined },
) {
  const all = withRelations(db);
  const visible =
    own === 'all'
      ? all
      : all.where(
          sql<boolean>`(select count(*) > 0 and bool_and(${isAmong(sql.ref('merchant_account_id'), own.only)})
            from api_key_pair_merchant_accounts where api_key_pair_id = api_key_pairs.id)`,
        );
  return fetchPage(visible, 'api_key_pairs', page);
}

export const listAllKeyPairs = (db: Db) =>
  withRelations(db).orderBy('created_at', 'desc').orderBy('id', 'desc').execute();

export const findApiKeyPair = (db: Db, id: string) =>
  withRelations(db).where('api_key_pairs.id', '=', id).executeTakeFirst();

export const findActivePairNamed = (db: Db, display_name: string) =>
  db
    .selectFrom('api_key_pairs')
    .select('id')
    .where('display_name', '=', display_name)
    .where('active', '=', true)
    .limit(1)
    .executeTakeFirst();

export async function findSigningPair(db: Db, thumbprint: string): Promise<SigningPair | undefined> {
  const found = await db
    .selectFrom('api_key_pairs')
    .select((pair) => [
      'id',
      'algorithm',
      'public_key',
      'active',
      'all_accounts',
      sql<string[]>`array(select distinct unnest(r.permissions) from roles r
        join api_key_pair_roles own on own.role_id = r.id where own.api_key_pair_id = ${pair.ref('api_key_pairs.id')})`.as(
        'permissions',
      ),
      // Oldest first: a request that names none is about the first.
      sql<string[]>`array(select a.id from merchant_accounts a
        join api_key_pair_merchant_accounts own on own.merchant_account_id = a.id
        where own.api_key_pair_id = ${pair.ref('api_key_pairs.id')} order by a.created_at, a.id)`.as('named'),
    ])
    .where('thumbprint', '=', thumbprint)
    .executeTakeFirst();
  if (!found) return undefined;
  const { named, all_accounts: _, ...pair } = found;
  return { ...pair, active: isUsable(found, named), accounts: accountsOf(found, named) };
}

export async function insertApiKeyPair(
  db: Tx,
  pair: { thumbprint: string; display_name: string; algorithm: 'ECDSA' | 'RSA'; public_key: string },
  roleIds: readonly string[],
  accounts: Accounts,
): Promise<string> {
  const { id } = await db
    .insertInto('api_key_pairs')
    .values({
      ...pair,
      all_accounts: accounts === 'all',
      creator_id: null,
      creator_name: null,
      creator_email_address: null,
      creator_thumbprint: null,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  if (roleIds.length > 0) {
    await db
      .insertInto('api_key_pair_roles')
      .values(roleIds.map((role_id) => ({ api_key_pair_id: id, role_id })))
      .execute();
  }
  await insertAccountsOf(db, id, accounts);
  return id;
}

async function insertAccountsOf(db: Tx, api_key_pair_id: string, accounts: Accounts): Promise<void> {
  if (accounts === 'all') return;
  const rows = accounts.only.map((merchant_account_id) => ({ api_key_pair_id, merchant_account_id }));
  await db.insertInto('api_key_pair_merchant_accounts').values(rows).execute();
}

/** False when there is no such pair. */
export async function replaceAccountsOf({ db, now }: Work, id: string, accounts: Accounts): Promise<boolean> {
  const update = db.updateTable('api_key_pairs').where('id', '=', id);
  // First the pair: another change of it waits until this one is committed.
  const { numUpdatedRows } = await update
    .set({ all_accounts: false, updated_at: notBack(now) })
    .executeTakeFirst();
  if (numUpdatedRows === 0n) return false;
  await db.deleteFrom('api_key_pair_merchant_accounts').where('api_key_pair_id', '=', id).execute();
  await insertAccountsOf(db, id, accounts);
  // Last, because a pair whose accounts are taken away has access to none: see migration 0008.
  if (accounts === 'all') await update.set({ all_accounts: true }).execute();
  return true;
}
