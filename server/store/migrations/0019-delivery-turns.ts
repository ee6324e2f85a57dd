// Which worker delivers for an account at the moment: see server/store/delivery-turns.ts.
import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('delivery_turns')
    .addColumn('key', 'text', (column) => column.primaryKey())
    .addColumn('worker', 'uuid', (column) => column.notNull())
    .addColumn('until', 'timestamptz', (column) => column.notNull())
    .execute();
}
