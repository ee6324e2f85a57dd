import type { Db, Tx } from './database.ts';

export const listRoles = (db: Db) => db.selectFrom('roles').selectAll().orderBy('slug').execute();

export const findRoles = (db: Db, slugs: readonly string[]) =>
  slugs.length === 0
    ? Promise.resolve([])
    : db.selectFrom('roles').selectAll().where('slug', 'in', slugs).execute();

/** Undefined when the slug is taken. */
export const insertRole = (
  db: Tx,
  role: { slug: string; name: string; description: string | null; permissions: string[] },
) =>
  db
    .insertInto('roles')
    .values(role)
    .onConflict((conflict) => conflict.column('slug').doNothing())
    .returningAll()
    .executeTakeFirst();
