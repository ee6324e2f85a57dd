// What operators do with deliveries: list and replay them.
import { sql } from 'kysely';
import { acrossAccounts } from '../database/across-accounts.ts';
import type { Db, Tx } from '../database/database.ts';
import { groupByAccount } from '../rules/accounts.ts';
import { deliveriesWithEvents, type DeliveryKey } from './outbox.ts';

/** What events are about, such as a transaction. */
export interface EventTarget {
  id: string;
  merchant_account_id: string;
  created_at: Date;
}

export interface DeliveryFilter {
  subscriptionId?: string | undefined;
  accountId?: string | undefined;
  eventId?: string | undefined;
  /** A record that events are about. They are found faster in its account, from the time when it was created. */
  record?: (Pick<EventTarget, 'id'> & Partial<EventTarget>) | undefined;
  failed?: boolean | undefined;
  pending?: boolean | undefined;
  since?: Date | undefined;
  only?: readonly DeliveryKey[] | undefined;
}

/** When it is tried next; in the past while a worker holds it. */
const next = sql<Date | null>`case when deliveries.state = 'pending'
  then case when leased_by is null then due_at else least(due_at, deliveries.updated_at) end end`;

export type Delivery = Awaited<ReturnType<typeof listDeliveries>>[number];

export async function listDeliveries(db: Db, filter: DeliveryFilter, limit: number) {
  const deliveries = await deliveriesWithEvents(db)
    .innerJoin('webhook_subscriptions', 'webhook_subscriptions.id', 'deliveries.subscription_id')
    .select([
      'deliveries.id',
      'deliveries.created_at',
      'deliveries.event_id',
      'events.name',
      'events.merchant_account_id',
      targetId.as('record'),
      'deliveries.subscription_id',
      'webhook_subscriptions.url',
      'webhook_subscriptions.active',
      'deliveries.state',
      next.as('next'),
    ])
    .where(matching(filter))
    .orderBy('deliveries.created_at', 'desc')
    .orderBy('deliveries.id')
    .limit(limit)
    .modifyEnd(acrossAccounts('all-deliveries'))
    .execute();
  const attempts = await listAttempts(db, deliveries);
  return deliveries.map((delivery) => ({ ...delivery, attempts: attempts.get(delivery.id) ?? [] }));
}

/** By the IDs of their deliveries. Apart from them, so that a limit cuts none of them in the middle. */
async function listAttempts(db: Db, of: readonly DeliveryKey[]) {
  const rows = await db
    .selectFrom('delivery_attempts')
    .select(['delivery_id', 'number', 'at', 'status', 'milliseconds', 'error', 'answer'])
    .where(sql<boolean>`(merchant_account_id, delivery_id) in ${keysOf(of)}`)
    .orderBy('number')
    .modifyEnd(acrossAccounts('all-deliveries'))
    .execute();
  const attempts = new Map<string, typeof rows>(of.map(({ id }) => [id, []]));
  for (const row of rows) attempts.get(row.delivery_id)?.push(row);
  return attempts;
}

const keysOf = (deliveries: readonly DeliveryKey[]) => sql`(select * from unnest(
  ${deliveries.map((one) => one.merchant_account_id)}::text[], ${deliveries.map(({ id }) => id)}::uuid[]))`;

/** Attempts that began within the last minute. One takes 15 seconds at most, and clocks may differ. */
export const listRecentAttempts = (db: Db) =>
  db
    .selectFrom('delivery_attempts')
    .select(['merchant_account_id', 'delivery_id as id', 'number'])
    .where('at', '>=', sql<Date>`now() - interval '1 minute'`)
    .modifyEnd(acrossAccounts('all-deliveries'))
    .execute();

/** Clocks may differ, and an imported record may have a time of another zone. */
const shortlyBefore = (time: Date): Date => new Date(time.getTime() - 2 * 86_400_000);

const targetId = sql<string | null>`events.body::json -> 'target' ->> 'id'`;

/** The text is searched first, because to parse every event of a busy account takes minutes. */
const isAbout = (id: string) =>
  sql<boolean>`case when position(${id} in events.body) > 0 then ${targetId} = ${id} else false end`;

function matching(filter: DeliveryFilter) {
  const { subscriptionId, accountId, eventId, record, failed, pending, since, only } = filter;
  const { merchant_account_id: account, created_at: created } = record ?? {};
  const conditions = [
    sql`true`,
    subscriptionId && sql`deliveries.subscription_id = ${subscriptionId}`,
    accountId && sql`deliveries.merchant_account_id = ${accountId}`,
    eventId && sql`deliveries.event_id = ${eventId}::uuid`,
    account && sql`deliveries.merchant_account_id = ${account}`,
    created && sql`deliveries.created_at >= ${shortlyBefore(created)}`,
    record && isAbout(record.id),
    failed && sql`deliveries.state = 'failed'`,
    pending && sql`deliveries.state = 'pending'`,
    since && sql`deliveries.created_at >= ${since}`,
    only && sql`(deliveries.merchant_account_id, deliveries.id) in ${keysOf(only)}`,
  ];
  const given = conditions.filter((condition) => typeof condition === 'object');
  return sql<boolean>`${sql.join(given, sql` and `)}`;
}

export const listEventsOfLastDay = (db: Db, limit: number) =>
  db
    .selectFrom('events')
    .select(['id', 'name', 'merchant_account_id', 'created_at', 'body'])
    .where('created_at', '>=', sql<Date>`now() - interval '1 day'`)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .modifyEnd(acrossAccounts('all-deliveries'))
    .execute();

/** The events of one record, with the status that it had then. */
export const listEventsOf = (db: Db, { id, merchant_account_id, created_at }: EventTarget, limit: number) =>
  db
    .selectFrom('events')
    .select([
      'id',
      'name',
      'created_at',
      sql<string | null>`body::json -> 'target' ->> 'status'`.as('status'),
    ])
    .where('merchant_account_id', '=', merchant_account_id)
    .where('created_at', '>=', shortlyBefore(created_at))
    .where(isAbout(id))
    .orderBy('created_at')
    .limit(limit)
    .execute();

/** The body of an event as it is sent; undefined if the event has no delivery. */
export async function findEventBody(db: Db, id: string): Promise<string | undefined> {
  const found = await deliveriesWithEvents(db)
    .select('events.body')
    .where('deliveries.event_id', '=', id)
    .limit(1)
    .modifyEnd(acrossAccounts('all-deliveries'))
    .executeTakeFirst();
  return found?.body;
}

/** The last row of a step, after which the next one begins. */
export interface PageEnd {
  created_at: Date;
  id: string;
}

/** Deliveries of one transaction. */
const reopenedAtOnce = 1000;

interface Reopened extends DeliveryKey, PageEnd {
  subscription_id: string;
  active: boolean;
  now: string;
}

/**
 * Makes deliveries due now, with the whole retry schedule; one that is being tried, when that attempt has ended. Those of a
 * subscription that is switched off are not changed; for each, `switchedOff` has the ID of its subscription. The newest first,
 * beginning after `after`, and so many that one transaction is short; `last` is what the next call begins after, undefined when
 * there are no more.
 */
export async function reopenDeliveries(
  db: Tx,
  filter: Omit<DeliveryFilter, 'record'>,
  after?: PageEnd,
): Promise<{ replayed: number; switchedOff: string[]; last: PageEnd | undefined }> {
  const isNext = after
    ? sql`(deliveries.created_at, deliveries.id) < (${after.created_at}::timestamptz, ${after.id}::uuid)`
    : sql`true`;
  const { rows: found } = await sql<Reopened>`
    select deliveries.merchant_account_id, deliveries.created_at, deliveries.id, subscription_id, active, now()::text as now
    from deliveries join webhook_subscriptions on webhook_subscriptions.id = deliveries.subscription_id
    where ${matching(filter)} and ${isNext}
    order by deliveries.created_at desc, deliveries.id desc limit ${reopenedAtOnce}
    ${acrossAccounts('all-deliveries')}`.execute(db);
  const wanted = found.filter(({ active }) => active);
  let replayed = 0;
  for (const [account, own] of groupByAccount(wanted, (one) => one.merchant_account_id)) {
    const ids = own.map(({ id }) => id);
    const { numAffectedRows = 0n } = await sql`
      update deliveries set state = 'pending', updated_at = now(),
        attempts_before = attempts + (leased_by is not null)::integer,
        due_at = case when leased_by is null then ${found[0]?.now}::timestamptz else due_at end
      where merchant_account_id = ${account} and id = any(${ids}::uuid[])
        and ${matching(filter)}`.execute(db);
    replayed += Number(numAffectedRows);
  }
  return {
    replayed,
    switchedOff: found.filter(({ active }) => !active).map(({ subscription_id }) => subscription_id),
    last: found.length === reopenedAtOnce ? found.at(-1) : undefined,
  };
}
