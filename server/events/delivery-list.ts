// What operators do with deliveries: list them, count those that are still tried, and replay them.
import { sql } from 'kysely';
import { acrossAccounts } from '../database/across-accounts.ts';
import type { Db, Tx } from '../database/database.ts';
import { withEvents, type DeliveryKey } from './outbox.ts';

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
  since?: Date | undefined;
  limit: number;
}

/** When it is tried next; in the past while a worker holds it. */
const next = sql<Date | null>`case when deliveries.state = 'pending'
  then case when leased_by is null then due_at else least(due_at, deliveries.updated_at) end end`;

/** The newest deliveries, with a row for each attempt, or one for a delivery without attempts. */
export async function listDeliveries(db: Db, { limit, ...filter }: DeliveryFilter) {
  const deliveries = await withEvents(db)
    .select([
      'deliveries.id',
      'deliveries.created_at',
      'deliveries.event_id',
      'events.name',
      'events.merchant_account_id',
      targetId.as('record'),
      'deliveries.subscription_id',
      'deliveries.state',
      next.as('next'),
    ])
    .where(matching(filter))
    .orderBy('deliveries.created_at', 'desc')
    .orderBy('deliveries.id')
    .limit(limit)
    .modifyEnd(acrossAccounts('all-deliveries'))
    .execute();
  const attempts = new Map<string, Omit<ShownAttempt, 'delivery_id'>[]>();
  for (const { delivery_id, ...attempt } of await listAttempts(db, deliveries))
    attempts.set(delivery_id, [...(attempts.get(delivery_id) ?? []), attempt]);
  return deliveries.flatMap((delivery) =>
    (attempts.get(delivery.id) ?? [notTried]).map((attempt) => ({ ...delivery, ...attempt })),
  );
}

type ShownAttempt = Awaited<ReturnType<typeof listAttempts>>[number];

const notTried = { number: null, at: null, status: null, milliseconds: null, error: null, answer: null };

/** Apart from the deliveries, so that a limit cuts none of them in the middle. */
async function listAttempts(db: Db, of: readonly DeliveryKey[]) {
  if (of.length === 0) return [];
  return db
    .selectFrom('delivery_attempts')
    .select(['delivery_id', 'number', 'at', 'status', 'milliseconds', 'error', 'answer'])
    .where(
      sql<boolean>`(merchant_account_id, delivery_id) in (select * from unnest(
        ${of.map((one) => one.merchant_account_id)}::text[], ${of.map(({ id }) => id)}::uuid[]))`,
    )
    .orderBy('number')
    .modifyEnd(acrossAccounts('all-deliveries'))
    .execute();
}

/** Clocks may differ, and an imported record may have a time of another zone. */
const shortlyBefore = (time: Date): Date => new Date(time.getTime() - 2 * 86_400_000);

const targetId = sql<string | null>`events.body::json -> 'target' ->> 'id'`;

/** The text is searched first, because to parse every event of a busy account takes minutes. */
const isAbout = (id: string) =>
  sql<boolean>`case when position(${id} in events.body) > 0 then ${targetId} = ${id} else false end`;

const matching = ({
  subscriptionId,
  accountId,
  eventId,
  record,
  failed,
  since,
}: Omit<DeliveryFilter, 'limit'>) =>
  sql<boolean>`${sql.join(
    [
      sql`true`,
      ...(subscriptionId ? [sql`deliveries.subscription_id = ${subscriptionId}`] : []),
      ...(accountId ? [sql`deliveries.merchant_account_id = ${accountId}`] : []),
      ...(eventId ? [sql`deliveries.event_id = ${eventId}::uuid`] : []),
      ...(record?.merchant_account_id
        ? [sql`deliveries.merchant_account_id = ${record.merchant_account_id}`]
        : []),
      ...(record?.created_at ? [sql`deliveries.created_at >= ${shortlyBefore(record.created_at)}`] : []),
      ...(record ? [isAbout(record.id)] : []),
      ...(failed ? [sql`deliveries.state = 'failed'`] : []),
      ...(since ? [sql`deliveries.created_at >= ${since}`] : []),
    ],
    sql` and `,
  )}`;

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

/** As it is sent. Of an event that has a delivery. */
export async function findEventBody(db: Db, id: string): Promise<string | undefined> {
  const found = await withEvents(db)
    .select('events.body')
    .where('deliveries.event_id', '=', id)
    .limit(1)
    .modifyEnd(acrossAccounts('all-deliveries'))
    .executeTakeFirst();
  return found?.body;
}

/** How many are still tried, and how many wait only to fail, because their subscription is switched off. */
export const countPending = (
  db: Db,
  filter: Omit<DeliveryFilter, 'limit' | 'failed'>,
): Promise<{ retried: number; switchedOff: number }> =>
  withEvents(db)
    .innerJoin('webhook_subscriptions', 'webhook_subscriptions.id', 'deliveries.subscription_id')
    .select((eb) => [
      eb.fn.countAll<number>().filterWhere('active', '=', true).as('retried'),
      eb.fn.countAll<number>().filterWhere('active', '=', false).as('switchedOff'),
    ])
    .where('deliveries.state', '=', 'pending')
    .where(matching(filter))
    .modifyEnd(acrossAccounts('all-deliveries'))
    .executeTakeFirstOrThrow();

/** The last row of a step, after which the next one begins. */
export interface PageEnd {
  created_at: Date;
  id: string;
}

/** In one transaction. */
const reopenedAtOnce = 1000;

/**
 * Makes deliveries due now, with the whole retry schedule; one that is being tried, when that attempt has ended. Deliveries of a
 * subscription that is switched off are not changed, only counted. The newest first, beginning after `after`, and so many
 * that one transaction is short; `last` is what the next call begins after, undefined when there are no more.
 */
export async function reopenDeliveries(
  db: Tx,
  filter: Omit<DeliveryFilter, 'limit' | 'record'>,
  after?: PageEnd,
): Promise<{ replayed: number; switchedOff: number; last: PageEnd | undefined }> {
  const isNext = after
    ? sql`(deliveries.created_at, deliveries.id) < (${after.created_at}::timestamptz, ${after.id}::uuid)`
    : sql`true`;
  const { rows: found } = await sql<DeliveryKey & PageEnd & { active: boolean; now: string }>`
    select deliveries.merchant_account_id, deliveries.created_at, deliveries.id, active, now()::text as now
    from deliveries join webhook_subscriptions on webhook_subscriptions.id = deliveries.subscription_id
    where ${matching(filter)} and ${isNext}
    order by deliveries.created_at desc, deliveries.id desc limit ${reopenedAtOnce}
    ${acrossAccounts('all-deliveries')}`.execute(db);
  const wanted = found.filter(({ active }) => active);
  let replayed = 0;
  for (const account of new Set(wanted.map((one) => one.merchant_account_id))) {
    const ids = wanted.filter((one) => one.merchant_account_id === account).map(({ id }) => id);
    const { numAffectedRows = 0n } = await sql`
      update deliveries set state = 'pending', updated_at = now(),
        attempts_before = attempts + (leased_by is not null)::integer,
        due_at = case when leased_by is null then ${found[0]?.now}::timestamptz else due_at end
      where merchant_account_id = ${account} and id = any(${ids}::uuid[]) and ${matching(filter)}`.execute(
      db,
    );
    replayed += Number(numAffectedRows);
  }
  return {
    replayed,
    switchedOff: found.length - wanted.length,
    last: found.length === reopenedAtOnce ? found.at(-1) : undefined,
  };
}
