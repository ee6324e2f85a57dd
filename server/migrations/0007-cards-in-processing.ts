// A metric counts the cards in processing, and tells the age of the oldest, at every scrape: this index has only those cards.
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  // Cards cannot be stored while this waits for a transaction that changes cards, nor while it works.
  await sql`set local lock_timeout = '2s'`.execute(db);
  // As in 0002: an operator may have built it before. If that was interrupted, it is there and not valid.
  const { rows } = await sql<{ isValid: boolean }>`
    select indisvalid as "isValid" from pg_index where indexrelid = to_regclass('payment_methods_processing')`.execute(
    db,
  );
  const [found] = rows;
  if (found?.isValid) return;
  await (
    found
      ? sql`reindex index payment_methods_processing`
      : sql`create index payment_methods_processing on payment_methods (created_at) where status = 'processing'`
  ).execute(db);
}
