// `updated_at_lte` reads only what was created by then, so nothing may be updated before it was created. Imports of 1.0.0 accepted such
// transactions, and found them by an index of their own.
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`update transactions set updated_at = created_at where updated_at < created_at`.execute(db);
  // The next statement waits for a backup or an import that is under way, and every request waits behind it. It comes last, because
  // nobody reads the table until the transaction ends.
  await sql`set local lock_timeout = '2s'`.execute(db);
  await sql`drop index transactions_updated_early`.execute(db);
}
