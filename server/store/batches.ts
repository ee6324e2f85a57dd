// Deletes many rows without holding locks for long.
import { sql, type RawBuilder } from 'kysely';
import type { Db } from './database.ts';

const batchSize = 1000;

export interface Keyed {
  table: string;
  /** The columns of its primary key. */
  key: readonly string[];
}

/** Returns how many were deleted. By key: a sharded engine cannot find rows by `ctid`, nor lock those of several shards. */
export async function deleteInBatches(
  db: Db,
  { table, key }: Keyed,
  where: RawBuilder<unknown>,
): Promise<number> {
  const columns = sql.join(key.map((column) => sql.ref(column)));
  let deleted = 0;
  for (;;) {
    const { numAffectedRows = 0n } = await sql`
      delete from ${sql.table(table)} where (${columns}) in (
        select ${columns} from ${sql.table(table)} where ${where} limit ${batchSize})`.execute(db);
    deleted += Number(numAffectedRows);
    if (Number(numAffectedRows) < batchSize) return deleted;
  }
}
