import type { Work } from '../../database/unit-of-work.ts';

interface NewRole {
  slug: string;
  name: string;
  description: string | null;
  permissions: string[];
}

/** Undefined when the slug is taken. */
export const createRole = ({ db }: Work, role: NewRole) =>
  db
    .insertInto('roles')
    .values(role)
    .onConflict((conflict) => conflict.column('slug').doNothing())
    .returningAll()
    .executeTakeFirst();

/** Undefined when there is none. */
export const updateRole = ({ db }: Work, slug: string, changes: Partial<Omit<NewRole, 'slug'>>) =>
  db.updateTable('roles').set(changes).where('slug', '=', slug).returningAll().executeTakeFirst();

/** Undefined when there is no such role. If key pairs have it, it is not deleted, and these are returned. */
export async function deleteRole({ db }: Work, slug: string) {
  // Waits for key pairs that are being created with it, and lets none be created until the transaction ends.
  const role = await db
    .selectFrom('roles')
    .select('id')
    .where('slug', '=', slug)
    .forUpdate()
    .executeTakeFirst();
  if (!role) return undefined;
  const pairs = await db
    .selectFrom('api_key_pairs')
    .innerJoin('api_key_pair_roles as own', 'own.api_key_pair_id', 'api_key_pairs.id')
    .where('own.role_id', '=', role.id)
    .select(['api_key_pairs.id', 'api_key_pairs.display_name'])
    .orderBy('api_key_pairs.display_name')
    .execute();
  if (pairs.length === 0) await db.deleteFrom('roles').where('id', '=', role.id).execute();
  return pairs;
}
