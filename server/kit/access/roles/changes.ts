import type { Work } from '../../database/unit-of-work.ts';
import { madeUnlessTaken } from '../../rules/outcomes.ts';

interface NewRole {
  slug: string;
  name: string;
  description: string | null;
  permissions: string[];
}

export async function createRole({ db }: Work, role: NewRole) {
  const made = await db
    .insertInto('roles')
    .values(role)
    .onConflict((conflict) => conflict.column('slug').doNothing())
    .returningAll()
    .executeTakeFirst();
  return madeUnlessTaken(made);
}

/** Undefined when there is none. */
export const updateRole = ({ db }: Work, slug: string, changes: Partial<Omit<NewRole, 'slug'>>) =>
  db.updateTable('roles').set(changes).where('slug', '=', slug).returningAll().executeTakeFirst();

interface InUse {
  kind: 'inUse';
  pairs: { id: string; display_name: string }[];
}

/** Undefined when there is no such role. One that key pairs have is not deleted. */
export async function deleteRole(
  { db }: Work,
  slug: string,
): Promise<{ kind: 'deleted' } | InUse | undefined> {
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
  if (pairs.length > 0) return { kind: 'inUse', pairs };
  await db.deleteFrom('roles').where('id', '=', role.id).execute();
  return { kind: 'deleted' };
}
