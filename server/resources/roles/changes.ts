import {
  deleteRole as removeRole,
  insertRole,
  listKeyPairsWithRole,
  lockRole,
  updateRole as changeRole,
  type NewRole,
} from './queries.ts';
import type { Work } from '../../database/unit-of-work.ts';

/** Undefined when the slug is taken. */
export const createRole = ({ db }: Work, role: NewRole) => insertRole(db, role);

/** Undefined when there is none. */
export const updateRole = ({ db }: Work, slug: string, changes: Partial<Omit<NewRole, 'slug'>>) =>
  changeRole(db, slug, changes);

/** Undefined when there is none; the key pairs that have it, because of which it was not deleted. */
export async function deleteRole({ db }: Work, slug: string) {
  const role = await lockRole(db, slug);
  if (!role) return undefined;
  const pairs = await listKeyPairsWithRole(db, role.id);
  if (pairs.length === 0) await removeRole(db, role.id);
  return pairs;
}
