// Events and their deliveries.
import { sql } from 'kysely';
import type { Db, Tx } from '../database/database.ts';

export interface EventRow {
  id: string;
  name: string;
  merchant_account_id: string;
  body: string;
  created_at: Date;
}

export interface DeliveryKey {
  /** The account of the event. */
  merchant_account_id: string;
  id: string;
}

/**
 * Stores an event, and a delivery for each active subscription of its account or of all accounts; with `only`, for that
 * subscription alone, if it is one of them. Returns how many deliveries.
 */
export async function insertEvent(
  db: Tx,
  event: EventRow,
  { only, traceparent }: { only?: string | undefined; traceparent?: string | undefined } = {},
): Promise<number> {
  await db.insertInto('events').values(event).execute();
  const { id, merchant_account_id: account, created_at: at } = event;
  const { numAffectedRows } = await sql`
    insert into deliveries (merchant_account_id, created_at, event_id, subscription_id, traceparent)
    select ${account}::text, ${at}::timestamptz, ${id}::uuid, id, ${traceparent ?? null} from webhook_subscriptions
    where active and (merchant_account_id = ${account} or merchant_account_id is null)
      ${only === undefined ? sql`` : sql`and id = ${only}::uuid`}`.execute(db);
  return Number(numAffectedRows ?? 0);
}

export const withEvents = (db: Db) =>
  db
    .selectFrom('deliveries')
    .innerJoin('events', (join) =>
      join
        .onRef('events.merchant_account_id', '=', 'deliveries.merchant_account_id')
        .onRef('events.id', '=', 'deliveries.event_id'),
    );

/** Deletes the deliveries of events of one account, with their attempts. This waits for attempts that are being recorded. */
export async function deleteDeliveriesOf(db: Tx, account: string, events: readonly string[]): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    delete from deliveries where merchant_account_id = ${account} and event_id = any(${[...events]}::uuid[])
    returning id`.execute(db);
  if (rows.length > 0)
    await sql`
      delete from delivery_attempts
      where merchant_account_id = ${account} and delivery_id = any(${rows.map(({ id }) => id)}::uuid[])`.execute(
      db,
    );
}
