// Deletes events with their deliveries and attempts when they are old: whole partitions, and one by one what is in none. What
// belongs to a pending delivery stays.
import { sql } from 'kysely';
import { acrossAccounts } from './across-accounts.ts';
import { deleteInBatches } from './batches.ts';
import type { Db } from './database.ts';
import { dropPartitions, listMixed, type Partition } from './partitions.ts';
import { eventTables } from './tables/partitioned.ts';

const { events, deliveries, attempts } = eventTables;

/** Of a subscription that exists: a version before 1.3 that deletes one leaves its deliveries. */
const isPending = sql`state = 'pending' and exists (
  select from webhook_subscriptions as subscription where subscription.id = deliveries.subscription_id)`;

/** Returns how many events and partitions it deleted. */
export async function pruneEvents(db: Db, before: Date): Promise<number> {
  let pruned = await dropPartitions(db, deliveries, before, hasNoPending);
  pruned += await dropPartitions(db, events, before, hasNoPending);
  for (const { table, account } of await listMixed(db, events, before))
    pruned += await pruneRows(db, table, account, before);
  // What is left of events that are gone: a version before 1.3 deletes an event alone.
  for (const { table, account } of await listMixed(db, deliveries, before))
    await deleteInBatches(db, {
      table,
      account,
      key: ['created_at', 'id'],
      where: sql`created_at < ${before} and not exists (
        select from events where events.merchant_account_id = ${account}
          and events.created_at = event_created_at and events.id = event_id)`,
    });
  await dropPartitions(db, attempts, before, hasNoDelivery);
  for (const { table, account } of await listMixed(db, attempts, before))
    await deleteInBatches(db, {
      table,
      account,
      key: ['delivery_id', 'number', 'at'],
      where: sql`at < ${before} and not exists (
        select from deliveries where deliveries.merchant_account_id = ${account} and deliveries.id = delivery_id)`,
    });
  return pruned;
}

/** An event and its delivery may be in partitions of different weeks, if a version before 1.3 stored them. */
async function hasNoPending(db: Db, { from, to }: Partition): Promise<boolean> {
  const { rows } = await sql`
    select from deliveries where ${isPending} and (created_at >= ${from} and created_at < ${to}
      or event_created_at >= ${from} and event_created_at < ${to})
    limit 1 ${acrossAccounts('retention')}`.execute(db);
  return rows.length === 0;
}

/** Attempts are kept as long as a delivery that may have them. */
async function hasNoDelivery(db: Db, { to }: Partition): Promise<boolean> {
  const { rows } = await sql`
    select from deliveries where created_at < ${to} limit 1 ${acrossAccounts('retention')}`.execute(db);
  return rows.length === 0;
}

const batchSize = 1000;

/** With their deliveries and attempts. In batches, so that no lock is held for long. */
async function pruneRows(db: Db, table: string, account: string, before: Date): Promise<number> {
  let pruned = 0;
  for (;;) {
    const { rows } = await sql<{ total: number }>`
      with gone as (
        delete from ${sql.table(table)} where merchant_account_id = ${account} and (created_at, id) in (
          select created_at, id from ${sql.table(table)} as event
          where merchant_account_id = ${account} and created_at < ${before} and not exists (
            select from deliveries where event_id = event.id and merchant_account_id = ${account}
              and event_created_at = event.created_at and ${isPending})
          order by created_at limit ${batchSize} for update skip locked)
        returning created_at, id
      ), delivered as (
        delete from deliveries using gone where deliveries.merchant_account_id = ${account}
          and event_created_at = gone.created_at and event_id = gone.id
        returning deliveries.id
      ), tried as (
        delete from delivery_attempts as attempt using delivered
        where attempt.merchant_account_id = ${account} and delivery_id = delivered.id
      )
      select count(*) as total from gone`.execute(db);
    const { total = 0 } = rows[0] ?? {};
    pruned += total;
    if (total < batchSize) return pruned;
  }
}
