// What operators do with deliveries: list them, count those that are still tried, and replay them.
import { sql, type RawBuilder } from 'kysely';
import { timeOfUuid } from '../domain/uuid.ts';
import { acrossAccounts } from './across-accounts.ts';
import type { Db, Tx } from './database.ts';
import { dueColumns, withEvents, type Due } from './events.ts';

export interface DeliveryFilter {
  subscriptionId?: string | undefined;
  eventId?: string | undefined;
  failed?: boolean | undefined;
  since?: Date | undefined;
  limit: number;
}

export const listDeliveries = (db: Db, { subscriptionId, eventId, failed, since, limit }: DeliveryFilter) => {
  let query = withEvents(db)
    .leftJoin('delivery_attempts as attempt', (join) =>
      join
        .onRef('attempt.merchant_account_id', '=', 'deliveries.merchant_account_id')
        .onRef('attempt.delivery_id', '=', 'deliveries.id'),
    )
    .select([
      'deliveries.id',
      'deliveries.event_id',
      'events.name',
      'events.merchant_account_id',
      'deliveries.subscription_id',
      'deliveries.state',
      'deliveries.round',
      'attempt.number',
      'attempt.at',
      'attempt.status',
      'attempt.milliseconds',
      'attempt.error',
    ])
    .orderBy('deliveries.created_at', 'desc')
    .orderBy('deliveries.id')
    .orderBy('attempt.number')
    .limit(limit)
    .modifyEnd(acrossAccounts('all-deliveries'));
  if (subscriptionId) query = query.where('deliveries.subscription_id', '=', subscriptionId);
  if (eventId) query = query.where(isOfEvent(eventId));
  if (failed) query = query.where('deliveries.state', '=', 'failed');
  if (since) query = query.where('deliveries.created_at', '>=', since);
  return query.execute();
};

/** The newest, without their bodies. */
export const listEvents = (db: Db, { since, limit }: { since: Date; limit: number }) =>
  db
    .selectFrom('events')
    .select(['id', 'name', 'merchant_account_id', 'created_at'])
    .where('created_at', '>=', since)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .modifyEnd(acrossAccounts('all-deliveries'))
    .execute();

/** The ID tells the time, so only the partitions of that time are read. Not that of an event of versions before 1.3. */
function isOfEvent(eventId: string): RawBuilder<boolean> {
  const is = sql<boolean>`deliveries.event_id = ${eventId}::uuid`;
  const at = timeOfUuid(eventId);
  return at ? sql<boolean>`${is} and deliveries.created_at = ${at}` : is;
}

/** How many are still tried, and how many wait only to fail, because their subscription is switched off. */
export async function countPending(
  db: Db,
  { subscriptionId, eventId }: Pick<DeliveryFilter, 'subscriptionId' | 'eventId'>,
): Promise<{ retried: number; switchedOff: number }> {
  let query = db
    .selectFrom('deliveries')
    .innerJoin('webhook_subscriptions', 'webhook_subscriptions.id', 'deliveries.subscription_id')
    .select((eb) => [
      eb.fn.countAll<number>().filterWhere('active', '=', true).as('retried'),
      eb.fn.countAll<number>().filterWhere('active', '=', false).as('switchedOff'),
    ])
    .where('state', '=', 'pending')
    .modifyEnd(acrossAccounts('all-deliveries'));
  if (subscriptionId) query = query.where('subscription_id', '=', subscriptionId);
  if (eventId) query = query.where(isOfEvent(eventId));
  return query.executeTakeFirstOrThrow();
}

/**
 * Makes deliveries due again with the whole retry schedule; jobs of the old round are then ignored. Deliveries of a
 * subscription that is switched off are not changed, only counted.
 */
export async function reopenDeliveries(
  db: Tx,
  { subscriptionId, eventId, failed, since }: Omit<DeliveryFilter, 'limit'>,
): Promise<{ due: Due[]; switchedOff: number }> {
  const matches = sql.join(
    [
      sql`true`,
      ...(subscriptionId ? [sql`deliveries.subscription_id = ${subscriptionId}`] : []),
      ...(eventId ? [isOfEvent(eventId)] : []),
      ...(failed ? [sql`deliveries.state = 'failed'`] : []),
      ...(since ? [sql`deliveries.created_at >= ${since}`] : []),
    ],
    sql` and `,
  );
  const to = sql`webhook_subscriptions.id = deliveries.subscription_id`;
  const { rows } = await sql<Due>`
    update deliveries set state = 'pending', round = round + 1, attempts_before = attempts, updated_at = now()
    from webhook_subscriptions, events
    where ${to} and active and events.merchant_account_id = deliveries.merchant_account_id
      and events.created_at = event_created_at and events.id = event_id and ${matches}
    returning ${dueColumns} ${acrossAccounts('replayed-deliveries')}`.execute(db);
  const { rows: off } = await sql<{ number: number }>`
    select count(*)::integer as number from deliveries join webhook_subscriptions on ${to}
    where not active and ${matches} ${acrossAccounts('all-deliveries')}`.execute(db);
  return { due: rows, switchedOff: off[0]?.number ?? 0 };
}
