import type { Db } from './database.ts';

// Facts about the running service that a command cannot read from its own environment.

export const savePublicUrl = (db: Db, value: string) =>
  db
    .insertInto('settings')
    .values({ name: 'public_url', value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
    .execute();

/** The public URL of the service that started last. */
export async function findPublicUrl(db: Db): Promise<string | undefined> {
  const found = await db
    .selectFrom('settings')
    .select('value')
    .where('name', '=', 'public_url')
    .executeTakeFirst();
  return found?.value;
}
