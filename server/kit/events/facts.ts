import { sql, type RawBuilder } from 'kysely';
import { acrossAccounts, listAccountsWith } from '../database/across-accounts.ts';
import type { Tx } from '../database/database.ts';
import { plain, type Facts } from '../maintenance/facts.ts';
import { countQueue, findOldestPending } from './deliveries.ts';
import { deleteDeliveriesOf } from './outbox.ts';

const [unknown, never] = ['00000000-0000-0000-0000-000000000000', new Date(0)];

/**
 * Of a subscription that exists: nobody else will end it. With a limit, so that PostgreSQL looks for each event by an index; as a
 * join it may read all pending deliveries for each batch.
 */
const hasPending = (account: string) => sql`coalesce((
  select true from deliveries where merchant_account_id = ${account} and event_id = events.id and state = 'pending'
    and exists (select from webhook_subscriptions where webhook_subscriptions.id = subscription_id) limit 1), false)`;

export const events = {
  ...plain,
  key: { id: 'uuid' },
  isByAccount: true,
  retention: {
    job: 'old-events',
    milliseconds: ({ eventRetentionDays }) => eventRetentionDays * 86_400_000,
    time: 'created_at',
    unless: hasPending,
    andThen: deleteDeliveriesOf,
  },
  checks: {
    'events have a delivery to each subscription that was active throughout': (account) => sql`
      select events.id::text from events
      join webhook_subscriptions as subscription
        on coalesce(subscription.merchant_account_id, ${account}) = ${account}
      where events.merchant_account_id = ${account} and is_for_all and subscription.active
        and greatest(subscription.created_at, subscription.updated_at) < events.created_at - interval '1 minute'
        and not exists (
          select from deliveries where merchant_account_id = ${account}
            and event_id = events.id and subscription_id = subscription.id)`,
  },
  erasure: 'deleted',
  placeholder: { idColumn: 'id', row: { name: '', body: '', created_at: never } },
} as const satisfies Facts<'events'>;

/** A subscription that fails gets one attempt at a time, so its deliveries may be late as long as there are attempts. */
async function selectOverdue(tx: Tx): Promise<RawBuilder<unknown>> {
  const slow: string[] = [];
  for (const account of await listAccountsWith(tx, 'deliveries')) {
    const { rows } = await sql<{ id: string }>`
      select distinct subscription_id as id from deliveries
      join delivery_attempts as attempt on attempt.merchant_account_id = ${account} and delivery_id = deliveries.id
      join webhook_subscriptions as subscription on subscription.id = subscription_id
      where deliveries.merchant_account_id = ${account} and failing_since is not null
        and attempt.at > now() - interval '10 minutes'`.execute(tx);
    slow.push(...rows.map(({ id }) => id));
  }
  return sql`
    select deliveries.id::text from deliveries
    join webhook_subscriptions as subscription on subscription.id = subscription_id
    where state = 'pending' and due_at < now() - interval '10 minutes'
      and subscription_id <> all(${slow}::uuid[]) ${acrossAccounts('all-deliveries')}`;
}

export const deliveries = {
  ...plain,
  key: { id: 'uuid' },
  isByAccount: true,
  gauges: [
    {
      name: 'webhook_queue',
      help: 'Deliveries in the queue: due now, or later',
      label: 'when',
      read: countQueue,
    },
    {
      name: 'webhook_oldest_event_seconds',
      help: 'Age of the oldest event that is not delivered to a subscription yet',
      read: findOldestPending,
    },
  ],
  checks: {
    'attempts of deliveries are counted': (account) => sql`
      select deliveries.id::text from deliveries
      left join (
        select delivery_id, count(*) as total from delivery_attempts
        where merchant_account_id = ${account} group by 1
      ) as made on made.delivery_id = deliveries.id
      where merchant_account_id = ${account} and attempts <> coalesce(made.total, 0)`,
    'deliveries that succeeded have an attempt that did': (account) => sql`
      select id::text from deliveries where merchant_account_id = ${account} and state = 'succeeded' and not exists (
        select from delivery_attempts as attempt
        where attempt.merchant_account_id = ${account} and delivery_id = deliveries.id and status between 200 and 299)`,
    'deliveries go to subscriptions of their own merchant account': (account) => sql`
      select deliveries.id::text from deliveries
      join webhook_subscriptions as subscription on subscription.id = subscription_id
      where deliveries.merchant_account_id = ${account} and subscription.merchant_account_id <> ${account}`,
    'deliveries have their event': (account) => sql`
      select deliveries.id::text from deliveries where merchant_account_id = ${account} and not exists (
        select from events where events.merchant_account_id = ${account} and events.id = event_id)`,
    'no delivery is overdue by more than ten minutes': { inAll: selectOverdue },
  },
  erasure: 'deleted',
  placeholder: { idColumn: 'id', row: { event_id: unknown, subscription_id: unknown } },
} as const satisfies Facts<'deliveries'>;

export const deliveryAttempts = {
  ...plain,
  key: { delivery_id: 'uuid', number: 'integer' },
  isByAccount: true,
  erasure: 'deleted',
  placeholder: { idColumn: 'delivery_id', row: { number: 0, at: never, milliseconds: 0 } },
} as const satisfies Facts<'delivery_attempts'>;
