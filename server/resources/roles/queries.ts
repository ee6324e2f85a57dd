import type { Db, Tx } from '../../database/database.ts';

export const listRoles = (db: Db) => db.selectFrom('roles').selectAll().orderBy('slug').execute();

/** Keeps them from being deleted until the transaction ends. */
export const lockRoles = (db: Tx, slugs: readonly string[]) =>
  slugs.length === 0
    ? Promise.resolve([])
    : db.selectFrom('roles').selectAll().where('slug', 'in', slugs).forKeyShare().execute();

export interface NewRole {
  slug: string;
  name: string;
  description: string | null;
  permissions: string[];
}

/** Undefined when the slug is taken. */
export const insertRole = (db: Tx, role: NewRole) =>
  db
    .insertInto('roles')
    .values(role)
    .onConflict((conflict) => conflict.column('slug').doNothing())
    .returningAll()
    .executeTakeFirst();

/** Undefined when there is none. */
export const updateRole = (db: Tx, slug: string, changes: Partial<Omit<NewRole, 'slug'>>) =>
  db.updateTable('roles').set(changes).where('slug', '=', slug).returningAll().executeTakeFirst();

/** Waits for key pairs that are being created with it, and lets none be created until the transaction ends. */
export const lockRole = (db: Tx, slug: string) =>
  db.selectFrom('roles').selectAll().where('slug', '=', slug).forUpdate().executeTakeFirst();

export const listKeyPairsWithRole = (db: Db, roleId: string) =>
  db
    .selectFrom('api_key_pairs')
    .innerJoin('api_key_pair_roles as own', 'own.api_key_pair_id', 'api_key_pairs.id')
    .where('own.role_id', '=', roleId)
    .select(['api_key_pairs.id', 'api_key_pairs.display_name'])
    .orderBy('api_key_pairs.display_name')
    .execute();

export const deleteRole = (db: Tx, id: string) => db.deleteFrom('roles').where('id', '=', id).execute();
