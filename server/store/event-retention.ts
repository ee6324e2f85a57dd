// Deletes events with their deliveries and attempts when they are old: whole partitions, and one by one what is in none. What
// belongs to a pending delivery stays. Across accounts.
import { sql } from 'kysely';
import { deleteInBatches } from './batches.ts';
import type { Db } from './database.ts';
import { dropPartitions, eventTables, listMixed, type Partition } from './partitions.ts';

const { events, deliveries, attempts } = eventTables;

/** Of a subscription that exists: a version before 1.3 that deletes one leaves its deliveries. */
const isPending = sql`state = 'pending' and exists (
  select from webhook_subscriptions as subscription where subscription.id = deliveries.subscription_id)`;

/** Returns how many events and partitions it deleted. */
export async function pruneEvents(db: Db, before: Date): Promise<number> {
  // An event and its delivery may be in partitions of different weeks, if a version before 1.3 stored them.
  const hasNoPending = async (tx: Db, { from, to }: Partition) => {
    const { rows } = await sql`
      select from deliveries where ${isPending} and (created_at >= ${from} and created_at < ${to}
        or event_created_at >= ${from} and event_created_at < ${to}) limit 1`.execute(tx);
    return rows.length === 0;
  };
  const hasNoDelivery = async (tx: Db, { to }: Partition) => {
    const { rows } = await sql`select from deliveries where created_at < ${to} limit 1`.execute(tx);
    return rows.length === 0;
  };
  let pruned = await dropPartitions(db, deliveries, before, hasNoPending);
  pruned += await dropPartitions(db, events, before, hasNoPending);
  for (const table of await listMixed(db, events)) pruned += await pruneRows(db, table, before);
  // What is left of events that are gone.
  for (const table of await listMixed(db, deliveries))
    await deleteInBatches(
      db,
      table,
      sql`created_at < ${before} and not exists (
        select from events where events.merchant_account_id = ${sql.table(table)}.merchant_account_id
          and events.created_at = event_created_at and events.id = event_id)`,
    );
  await dropPartitions(db, attempts, before, hasNoDelivery);
  for (const table of await listMixed(db, attempts))
    await deleteInBatches(
      db,
      table,
      sql`at < ${before} and not exists (
        select from deliveries where deliveries.merchant_account_id = ${sql.table(table)}.merchant_account_id
          and deliveries.id = delivery_id)`,
    );
  return pruned;
}

const batchSize = 1000;

/** With their deliveries and attempts. In batches, so that no lock is held for long. */
async function pruneRows(db: Db, table: string, before: Date): Promise<number> {
  let pruned = 0;
  for (;;) {
    const { rows } = await sql<{ total: number }>`
      with gone as (
        delete from ${sql.table(table)} where ctid = any(array(
          select ctid from ${sql.table(table)} as event where created_at < ${before} and not exists (
            select from deliveries where event_id = event.id and merchant_account_id = event.merchant_account_id
              and event_created_at = event.created_at and ${isPending})
          order by created_at limit ${batchSize} for update skip locked))
        returning merchant_account_id, created_at, id
      ), delivered as (
        delete from deliveries using gone where deliveries.merchant_account_id = gone.merchant_account_id
          and event_created_at = gone.created_at and event_id = gone.id
        returning deliveries.merchant_account_id, deliveries.id
      ), tried as (
        delete from delivery_attempts as attempt using delivered
        where attempt.merchant_account_id = delivered.merchant_account_id and delivery_id = delivered.id
      )
      select count(*) as total from gone`.execute(db);
    const { total = 0 } = rows[0] ?? {};
    pruned += total;
    if (total < batchSize) return pruned;
  }
}
