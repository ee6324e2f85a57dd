// A metric counts the cards in processing, and tells the age of the oldest, at every scrape: this index has only those cards.
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  // As in 0002: an operator may have built it before.
  const { rows } = await sql`select where to_regclass('payment_methods_processing') is not null`.execute(db);
  if (rows.length > 0) return;
  await sql`
    create index payment_methods_processing on payment_methods (created_at) where status = 'processing'`.execute(
    db,
  );
}
