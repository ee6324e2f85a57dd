import type { Db, Tx } from '../../database/database.ts';

export const listRoles = (db: Db) => db.selectFrom('roles').selectAll().orderBy('slug').execute();

/** Keeps them from being deleted until the transaction ends. */
export const lockRoles = (db: Tx, slugs: readonly string[]) =>
  slugs.length === 0
    ? Promise.resolve([])
    : db.selectFrom('roles').selectAll().where('slug', 'in', slugs).forKeyShare().execute();
