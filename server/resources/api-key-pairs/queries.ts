import { sql } from 'kysely';
import { jsonArrayFrom } from 'kysely/helpers/postgres';
import type { Db, Tx } from '../../database/database.ts';
import { fetchPage } from '../../database/paging.ts';
import type { Accounts } from '../../rules/accounts.ts';
import type { Cursor } from '../../rules/cursor.ts';

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
          sql<boolean>`(select count(*) > 0 and bool_and(merchant_account_id = any(${own.only as string[]}))
            from api_key_pair_merchant_accounts where api_key_pair_id = api_key_pairs.id)`,
        );
  return fetchPage(visible, 'api_key_pairs', page);
}

export const listApiKeyPairs = (db: Db) =>
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

export interface SigningPair {
  id: string;
  algorithm: 'ECDSA' | 'RSA';
  public_key: string;
  active: boolean;
  permissions: string[];
  accounts: Accounts;
}

/** Everything that authentication needs to know about a pair, in one query. */
export async function findSigningPair(db: Db, thumbprint: string): Promise<SigningPair | undefined> {
  const found = await db
    .selectFrom('api_key_pairs')
    .select((pair) => [
      'id',
      'algorithm',
      'public_key',
      'active',
      sql<string[]>`array(select distinct unnest(r.permissions) from roles r
        join api_key_pair_roles own on own.role_id = r.id where own.api_key_pair_id = ${pair.ref('api_key_pairs.id')})`.as(
        'permissions',
      ),
      sql<string[]>`array(select merchant_account_id from api_key_pair_merchant_accounts
        where api_key_pair_id = ${pair.ref('api_key_pairs.id')})`.as('only'),
    ])
    .where('thumbprint', '=', thumbprint)
    .executeTakeFirst();
  if (!found) return undefined;
  const { only, ...pair } = found;
  return { ...pair, accounts: only.length === 0 ? 'all' : { only } };
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
  if (accounts !== 'all') {
    const rows = accounts.only.map((merchant_account_id) => ({ api_key_pair_id: id, merchant_account_id }));
    await db.insertInto('api_key_pair_merchant_accounts').values(rows).execute();
  }
  return id;
}
