// Deletes many rows without holding locks for long.
import { sql, type RawBuilder } from 'kysely';
import type { Db } from './database.ts';

const batchSize = 1000;

/** Rows that others have locked are left for the next time. Returns how many were deleted. */
export async function deleteInBatches(db: Db, table: string, where: RawBuilder<unknown>): Promise<number> {
  let deleted = 0;
  for (;;) {
    const { numAffectedRows = 0n } = await sql`
      delete from ${sql.table(table)} where ctid = any(array(
        select ctid from ${sql.table(table)} where ${where} limit ${batchSize} for update skip locked))`.execute(
      db,
    );
    deleted += Number(numAffectedRows);
    if (Number(numAffectedRows) < batchSize) return deleted;
  }
}
