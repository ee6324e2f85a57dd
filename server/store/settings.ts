import type { Db } from './database.ts';

// What a command needs to know about the service on the same database and cannot see in its own environment.

export const savePublicUrl = (db: Db, value: string) =>
  db
    .insertInto('settings')
    .values({ name: 'public_url', value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
    .execute();

/** Of the service that started last. */
export async function findPublicUrl(db: Db): Promise<string | undefined> {
  const found = await db
    .selectFrom('settings')
    .select('value')
    .where('name', '=', 'public_url')
    .executeTakeFirst();
  return found?.value;
}
