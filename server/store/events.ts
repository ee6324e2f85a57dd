// Events and their deliveries.
import { sql } from 'kysely';
import { acrossAccounts } from './across-accounts.ts';
import type { Db, Tx } from './database.ts';

export interface EventRow {
  id: string;
  name: string;
  merchant_account_id: string;
  body: string;
  created_at: Date;
}

export interface DeliveryKey {
  /** Of the event. */
  merchant_account_id: string;
  id: string;
}

/** A delivery to add to the queue. */
export interface Due {
  deliveryId: string;
  round: number;
  subscription_id: string;
  /** Of the event. */
  merchant_account_id: string;
}

/**
 * Stores an event, and a delivery for each active subscription of its account or of all accounts; with `only`, for that
 * subscription alone, if it is one of them.
 */
export async function insertEvent(db: Tx, event: EventRow, only?: string): Promise<Due[]> {
  await db.insertInto('events').values(event).execute();
  const { id, merchant_account_id: account, created_at: at } = event;
  const { rows } = await sql<Due>`
    insert into deliveries (merchant_account_id, created_at, event_id, subscription_id)
    select ${account}::text, ${at}::timestamptz, ${id}::uuid, id from webhook_subscriptions
    where active and (merchant_account_id = ${account} or merchant_account_id is null)
      ${only === undefined ? sql`` : sql`and id = ${only}::uuid`}
    returning ${dueColumns}`.execute(db);
  return rows;
}

export const dueColumns = sql`
  deliveries.id as "deliveryId", round, subscription_id, deliveries.merchant_account_id`;

export interface DueDelivery extends DeliveryKey {
  attempts: number;
  /** Attempts from before a replay, which do not count for the retry schedule. */
  attempts_before: number;
  round: number;
  state: string;
  event_id: string;
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

/** As jobs name them. */
export const findDeliveries = (
  db: Db,
  wanted: readonly Pick<Due, 'deliveryId' | 'merchant_account_id'>[],
): Promise<DueDelivery[]> =>
  selectDue(db)
    .where(
      sql<boolean>`(deliveries.merchant_account_id, deliveries.id) in (select * from unnest(
        ${wanted.map((one) => one.merchant_account_id)}::text[], ${wanted.map((one) => one.deliveryId)}::uuid[]))`,
    )
    .execute();

export const withEvents = (db: Db) =>
  db
    .selectFrom('deliveries')
    .innerJoin('events', (join) =>
      join
        .onRef('events.merchant_account_id', '=', 'deliveries.merchant_account_id')
        .onRef('events.id', '=', 'deliveries.event_id'),
    );

const selectDue = (db: Db) =>
  withEvents(db)
    .innerJoin('webhook_subscriptions as subscription', 'subscription.id', 'deliveries.subscription_id')
    .select([
      'deliveries.id',
      'deliveries.attempts',
      'deliveries.attempts_before',
      'deliveries.round',
      'deliveries.state',
      'deliveries.event_id',
      'deliveries.merchant_account_id',
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
    .modifyEnd(acrossAccounts('delivery-of-job'));

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

/** An attempt at a delivery as it was read before. */
export type Attempted = Pick<DueDelivery, 'id' | 'attempts' | 'round'> & {
  attempt: Attempt;
  state: 'pending' | 'succeeded' | 'failed';
};

/**
 * Records attempts at different deliveries of one account, and sets the states of the deliveries. If another worker recorded an
 * attempt meanwhile, or the delivery was replayed, the attempt is recorded but the state stays as it is. Returns by ID whether
 * the state was set. Of a delivery that was erased meanwhile nothing is recorded, and it is not among them.
 */
export async function recordAttempts(
  db: Tx,
  merchant_account_id: string,
  made: readonly Attempted[],
): Promise<Map<string, boolean>> {
  const ids = made.map(({ id }) => id);
  const of = (values: readonly unknown[], type: 'integer[]' | 'text[]') =>
    sql`(${values}::${sql.raw(type)})[array_position(${ids}::uuid[], id)]`;
  const attempts = of(
    made.map((one) => one.attempts),
    'integer[]',
  );
  const rounds = of(
    made.map(({ round }) => round),
    'integer[]',
  );
  const states = of(
    made.map(({ state }) => state),
    'text[]',
  );
  // Not joined with the values: a sharded engine allows no function in the FROM of an update.
  const { rows } = await sql<{ id: string; number: number; isCurrent: boolean }>`
    update deliveries set attempts = attempts + 1, updated_at = now(),
      state = case when attempts = ${attempts} and round = ${rounds} then ${states} else state end
    where merchant_account_id = ${merchant_account_id}
      and id = any(${ids}::uuid[])
    returning id, attempts as number, attempts - 1 = ${attempts} and round = ${rounds} as "isCurrent"`.execute(
    db,
  );
  const numbers = new Map(rows.map(({ id, number }) => [id, number]));
  const found = made.filter(({ id }) => numbers.has(id));
  await sql`
    insert into delivery_attempts (merchant_account_id, delivery_id, number, at, status, milliseconds, error)
    select ${merchant_account_id}::text, * from unnest(
      ${found.map(({ id }) => id)}::uuid[],
      ${found.map(({ id }) => numbers.get(id))}::integer[],
      ${found.map(({ attempt }) => attempt.at.toISOString())}::timestamptz[],
      ${found.map(({ attempt }) => attempt.status)}::integer[],
      ${found.map(({ attempt }) => attempt.milliseconds)}::integer[],
      ${found.map(({ attempt }) => attempt.error)}::text[])`.execute(db);
  return new Map(rows.map(({ id, isCurrent }) => [id, isCurrent]));
}

/** Of events of one account, with their attempts. This waits for attempts that are being recorded. */
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

/** Records that these subscriptions succeeded. */
export async function noteSuccesses(db: Tx, subscriptionIds: readonly string[]): Promise<void> {
  await sql`
    update webhook_subscriptions set failing_since = null
    where id = any(${subscriptionIds}::uuid[]) and failing_since is not null`.execute(db);
}

/** Records that a subscription failed. Switches it off, and returns true, if it only failed for too long. */
export async function noteFailure(
  db: Tx,
  subscriptionId: string,
  outcome: 'failed' | 'gone',
  { now, switchOffAfterMilliseconds }: { now: Date; switchOffAfterMilliseconds: number },
): Promise<boolean> {
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

/** How many seconds ago the oldest event happened that a subscription still waits for. By the clock of the database. */
export async function findOldestPending(db: Db): Promise<number> {
  const { rows } = await sql<{ seconds: number }>`
    select extract(epoch from clock_timestamp() - created_at)::float8 as seconds from deliveries
    where state = 'pending' and exists (select from webhook_subscriptions where id = subscription_id)
    order by created_at limit 1 ${acrossAccounts('all-deliveries')}`.execute(db);
  return Math.max(0, rows[0]?.seconds ?? 0);
}
