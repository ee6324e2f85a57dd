// Deletes many rows without holding locks for long.
import { sql, type RawBuilder } from 'kysely';
import type { Db } from './database.ts';

const batchSize = 1000;

interface Old {
  table: string;
  /** The columns of its primary key. */
  key: readonly string[];
  /** Of which merchant account. */
  account?: string;
  where: RawBuilder<unknown>;
}

/** Rows that others have locked are left for the next time. Returns how many were deleted. */
export async function deleteInBatches(db: Db, { table, key, account, where }: Old): Promise<number> {
  const columns = sql.join(key.map((name) => sql.ref(name)));
  const isOwn = account === undefined ? sql`true` : sql`merchant_account_id = ${account}`;
  let deleted = 0;
  for (;;) {
    const { numAffectedRows = 0n } = await sql`
      delete from ${sql.table(table)} where ${isOwn} and (${columns}) in (
        select ${columns} from ${sql.table(table)} where ${isOwn} and ${where}
        limit ${batchSize} for update skip locked)`.execute(db);
    deleted += Number(numAffectedRows);
    if (Number(numAffectedRows) < batchSize) return deleted;
  }
}
