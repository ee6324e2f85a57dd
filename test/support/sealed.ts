import { sql } from 'kysely';
import type { Db } from '../../server/kit/database/database.ts';
import { sealedColumns } from '../../server/resources/facts.ts';

/** The IDs of the keys that stored values are sealed with. Not in batches, as a rotation goes through them: it could miss some. */
export async function keysUsed(db: Db): Promise<string[]> {
  const used = new Set<string>();
  for (const { table, value } of sealedColumns) {
    const { rows } = await sql<{ key: string }>`
      select distinct split_part(${value}, '.', 1) as key from ${sql.table(table)}
      where ${value} ~ '^[0-9a-f]{8}[.]'`.execute(db);
    for (const { key } of rows) used.add(key);
  }
  return [...used].sort();
}
