// Events and their deliveries.
import { sql } from 'kysely';
import type { Db, Tx } from './database.ts';

export interface EventRow {
  id: string;
  name: string;
  merchant_account_id: string;
  body: string;
  created_at: Date;
}

/** A delivery to add to the queue. */
export interface Due {
  deliveryId: string;
  round: number;
  subscription_id: string;
  /** Of the event. */
  merchant_account_id: string;
}

/** Stores an event, and a delivery for each active subscription of its account or of all accounts. */
export async function insertEvent(db: Tx, event: EventRow): Promise<Due[]> {
  await db.insertInto('events').values(event).execute();
  const { rows } = await sql<Due>`
    insert into deliveries (event_id, subscription_id)
    select ${event.id}::uuid, id from webhook_subscriptions
    where active and (merchant_account_id = ${event.merchant_account_id} or merchant_account_id is null)
    returning id as "deliveryId", round, subscription_id,
      ${event.merchant_account_id}::text as merchant_account_id`.execute(db);
  return rows;
}

export interface DueDelivery {
  id: string;
  attempts: number;
  /** Attempts from before a replay, which do not count for the retry schedule. */
  attempts_before: number;
  round: number;
  state: string;
  event_id: string;
  /** Of the event; a subscription may be for all accounts. */
  merchant_account_id: string;
  body: string;
  subscription_id: string;
  /** Of the subscription; null when it is for all accounts. */
  subscription_account_id: string | null;
  /** Whether the subscription is for all accounts. */
  for_all: boolean;
  active: boolean;
  url: string;
  username: string | null;
  password_sealed: string | null;
  secret_sealed: string;
  old_secret_sealed: string | null;
  old_secret_until: Date | null;
  failing_since: Date | null;
}

const isForAll = sql<boolean>`subscription.merchant_account_id is null`.as('for_all');

export const findDeliveries = (db: Db, ids: readonly string[]): Promise<DueDelivery[]> =>
  db
    .selectFrom('deliveries')
    .innerJoin('events', 'events.id', 'deliveries.event_id')
    .innerJoin('webhook_subscriptions as subscription', 'subscription.id', 'deliveries.subscription_id')
    .select([
      'deliveries.id',
      'deliveries.attempts',
      'deliveries.attempts_before',
      'deliveries.round',
      'deliveries.state',
      'deliveries.event_id',
      'events.merchant_account_id',
      'events.body',
      'deliveries.subscription_id',
      'subscription.merchant_account_id as subscription_account_id',
      isForAll,
      'subscription.active',
      'subscription.url',
      'subscription.username',
      'subscription.password_sealed',
      'subscription.secret_sealed',
      'subscription.old_secret_sealed',
      'subscription.old_secret_until',
      'subscription.failing_since',
    ])
    .where('deliveries.id', 'in', ids)
    .execute();

/** What limits the deliveries to these subscriptions. */
export const findRecipients = (db: Db, ids: readonly string[]) =>
  db
    .selectFrom('webhook_subscriptions as subscription')
    .select([
      'subscription.id as subscription_id',
      isForAll,
      'subscription.active',
      'subscription.failing_since',
    ])
    .where('subscription.id', 'in', ids)
    .execute();

export interface Attempt {
  at: Date;
  status: number | null;
  milliseconds: number;
  error: string | null;
}

/**
 * Records an attempt and sets the state of the delivery. If another worker recorded an attempt meanwhile, or the delivery was
 * replayed, the attempt is recorded but the state stays as it is, and this returns false.
 */
export async function recordAttempt(
  db: Tx,
  { id, attempts, round }: Pick<DueDelivery, 'id' | 'attempts' | 'round'>,
  attempt: Attempt,
  state: 'pending' | 'succeeded' | 'failed',
): Promise<boolean> {
  const counted = db
    .updateTable('deliveries')
    .set({ attempts: sql`attempts + 1`, updated_at: sql`now()` })
    .where('id', '=', id)
    .returning('attempts');
  const decided = await counted
    .set({ state })
    .where('attempts', '=', attempts)
    .where('round', '=', round)
    .executeTakeFirst();
  const { attempts: number } = decided ?? (await counted.executeTakeFirstOrThrow());
  await db
    .insertInto('delivery_attempts')
    .values({ delivery_id: id, number, ...attempt })
    .execute();
  return decided !== undefined;
}

/** Records that a subscription succeeded or failed. Switches it off, and returns true, if it only failed for too long. */
export async function noteOutcome(
  db: Tx,
  subscriptionId: string,
  outcome: 'succeeded' | 'failed' | 'gone',
  { now, switchOffAfterMilliseconds }: { now: Date; switchOffAfterMilliseconds: number },
): Promise<boolean> {
  if (outcome === 'succeeded') {
    await sql`update webhook_subscriptions set failing_since = null where id = ${subscriptionId} and failing_since is not null`.execute(
      db,
    );
    return false;
  }
  // Only the first failure and the one that switches the subscription off update the row; the others do not lock it.
  const limit = new Date(now.getTime() - switchOffAfterMilliseconds);
  const off = sql<boolean>`(${outcome === 'gone'} or coalesce(failing_since <= ${limit}, false))`;
  const { rows } = await sql<{ off: boolean }>`
    update webhook_subscriptions set
      failing_since = coalesce(failing_since, ${now}),
      active = not ${off},
      updated_at = case when ${off} then ${now} else updated_at end
    where id = ${subscriptionId} and active and (failing_since is null or ${off})
    returning not active as off`.execute(db);
  return rows[0]?.off ?? false;
}

export interface DeliveryFilter {
  subscriptionId?: string | undefined;
  eventId?: string | undefined;
  failed?: boolean | undefined;
  since?: Date | undefined;
  limit: number;
}

export const listDeliveries = (db: Db, { subscriptionId, eventId, failed, since, limit }: DeliveryFilter) => {
  let query = db
    .selectFrom('deliveries')
    .innerJoin('events', 'events.id', 'deliveries.event_id')
    .leftJoin('delivery_attempts as attempt', 'attempt.delivery_id', 'deliveries.id')
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
    .limit(limit);
  if (subscriptionId) query = query.where('deliveries.subscription_id', '=', subscriptionId);
  if (eventId) query = query.where('deliveries.event_id', '=', eventId);
  if (failed) query = query.where('deliveries.state', '=', 'failed');
  if (since) query = query.where('deliveries.created_at', '>=', since);
  return query.execute();
};

/** How many are still tried. */
export async function countPending(
  db: Db,
  { subscriptionId, eventId }: Pick<DeliveryFilter, 'subscriptionId' | 'eventId'>,
): Promise<number> {
  let query = db
    .selectFrom('deliveries')
    .select((eb) => eb.fn.countAll<number>().as('number'))
    .where('state', '=', 'pending');
  if (subscriptionId) query = query.where('subscription_id', '=', subscriptionId);
  if (eventId) query = query.where('event_id', '=', eventId);
  return (await query.executeTakeFirstOrThrow()).number;
}

/**
 * Makes deliveries due again with the whole retry schedule; jobs of the old round are then ignored. Deliveries of a
 * subscription that is switched off are not changed, only counted.
 */
export async function reopenDeliveries(
  db: Tx,
  { eventId, failed, since }: Omit<DeliveryFilter, 'limit'>,
): Promise<{ due: Due[]; switchedOff: number }> {
  const matches = sql.join(
    [
      sql`true`,
      ...(eventId ? [sql`deliveries.event_id = ${eventId}::uuid`] : []),
      ...(failed ? [sql`deliveries.state = 'failed'`] : []),
      ...(since ? [sql`deliveries.created_at >= ${since}`] : []),
    ],
    sql` and `,
  );
  const to = sql`webhook_subscriptions.id = deliveries.subscription_id`;
  const { rows } = await sql<Due>`
    update deliveries set state = 'pending', round = round + 1, attempts_before = attempts, updated_at = now()
    from webhook_subscriptions, events
    where ${to} and active and events.id = event_id and ${matches}
    returning deliveries.id as "deliveryId", round, subscription_id, events.merchant_account_id`.execute(db);
  const { rows: off } = await sql<{ number: number }>`
    select count(*)::integer as number from deliveries join webhook_subscriptions on ${to}
    where not active and ${matches}`.execute(db);
  return { due: rows, switchedOff: off[0]?.number ?? 0 };
}

/** Deletes events created before that time, with their deliveries, except those with a pending delivery. */
export async function pruneEvents(db: Db, before: Date): Promise<number> {
  let pruned = 0;
  for (;;) {
    // In batches, so that no lock is held for long.
    const { rows } = await sql<{ id: string }>`
      delete from events where id in (
        select id from events
        where created_at < ${before}
          and not exists (select from deliveries where event_id = events.id and state = 'pending')
        order by created_at limit ${pruneBatch}
        for update skip locked
      ) returning id`.execute(db);
    pruned += rows.length;
    if (rows.length < pruneBatch) return pruned;
  }
}

const pruneBatch = 1000;
