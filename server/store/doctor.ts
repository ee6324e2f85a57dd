// Invariants of the data, each as one read-only statement that counts what breaks it and names a few.
import { sql, type RawBuilder } from 'kysely';
import { acrossAccounts } from './across-accounts.ts';
import { DatabaseFault, inTransaction, type Db, type Tx } from './database.ts';

export interface Finding {
  check: string;
  /** How many records break it. */
  broken: number;
  /** Some of them. */
  examples: string[];
  /** What an operator should know although nothing is broken. */
  note?: string;
}

const shown = 5;

/** Each selects the IDs of what is broken. */
const invariants: Record<string, RawBuilder<unknown>> = {
  'usage counters of cards match their transactions': sql`
    select id::text from payment_methods
    left join (
      select payment_method_id, merchant_account_id, count(*) as total,
        count(*) filter (where not merchant_initiated) as customer
      from transactions where payment_method_id is not null group by 1, 2
    ) as used on used.payment_method_id = payment_methods.id
      and used.merchant_account_id = payment_methods.merchant_account_id
    where usage_count <> coalesce(used.total, 0) or cit_usage_count <> coalesce(used.customer, 0)`,
  'cards that can be used have a number': sql`
    select id::text from payment_methods where status = 'succeeded' and number_sealed is null`,
  'what filters look for matches the transaction': sql`
    select id::text from transactions
    where has_gift_card_redemptions <> (json_array_length(gift_card_redemptions) > 0)
      or has_settlements <> (settled or settled_amount > 0)
      or buyer_external_identifier is distinct from buyer ->> 'external_identifier'
      or payment_method_label is distinct from payment_method ->> 'label'`,
  'attempts of deliveries are counted': sql`
    select deliveries.id::text from deliveries
    left join (select merchant_account_id, delivery_id, count(*) as total from delivery_attempts group by 1, 2) as made
      on made.merchant_account_id = deliveries.merchant_account_id and made.delivery_id = deliveries.id
    where attempts <> coalesce(made.total, 0)`,
  'deliveries that succeeded have an attempt that did': sql`
    select id::text from deliveries where state = 'succeeded' and not exists (
      select from delivery_attempts as attempt where attempt.merchant_account_id = deliveries.merchant_account_id
        and delivery_id = deliveries.id and status between 200 and 299)`,
  'pending deliveries have a job': sql`
    select deliveries.id::text from deliveries join webhook_subscriptions on webhook_subscriptions.id = subscription_id
    where state = 'pending' and not exists (
      select from pgboss.job where job.name = 'webhook-deliveries' and state in ('created', 'retry', 'active')
        and data ->> 'deliveryId' = deliveries.id::text and (data ->> 'round')::integer = deliveries.round)`,
  // A subscription that fails gets one attempt at a time, so its deliveries may be late as long as there are attempts.
  'no job is overdue by more than ten minutes': sql`
    select id::text from pgboss.job where name = 'webhook-deliveries'
      and (state in ('created', 'retry') and start_after < now() - interval '10 minutes'
        or state = 'active' and started_on < now() - interval '10 minutes')
      and coalesce(split_part(singleton_key, '/', 1), '') not in (
        select subscription.id::text from webhook_subscriptions as subscription
        where failing_since is not null and exists (
          select from deliveries join delivery_attempts as attempt on delivery_id = deliveries.id
            and attempt.merchant_account_id = deliveries.merchant_account_id
          where subscription_id = subscription.id and at > now() - interval '10 minutes'))`,
  'deliveries go to subscriptions of their own merchant account': sql`
    select deliveries.id::text from deliveries
    join webhook_subscriptions as subscription on subscription.id = subscription_id
    where subscription.merchant_account_id is not null
      and subscription.merchant_account_id <> deliveries.merchant_account_id`,
  'deliveries have their event': sql`
    select deliveries.id::text from deliveries where not exists (
      select from events where events.merchant_account_id = deliveries.merchant_account_id
        and events.created_at = event_created_at and events.id = event_id)`,
  // But `webhooks trigger --subscription` sends to one of them, which only the audit trail tells.
  'events have a delivery to each subscription that was active throughout': sql`
    select events.id::text from events
    join webhook_subscriptions as subscription
      on coalesce(subscription.merchant_account_id, events.merchant_account_id) = events.merchant_account_id
    where subscription.active and greatest(subscription.created_at, subscription.updated_at) < events.created_at - interval '1 minute'
      and not exists (
        select from deliveries where deliveries.merchant_account_id = events.merchant_account_id
          and event_id = events.id and subscription_id = subscription.id)
      and not exists (
        select from deliveries join audit_entries as entry
          on lower(command) like 'webhooks trigger %--subscription%' || subscription_id::text || '%'
        where deliveries.merchant_account_id = events.merchant_account_id and event_id = events.id
          and entry.at between events.created_at - interval '1 minute' and events.created_at + interval '1 minute')`,
};

export const countInvariants = Object.keys(invariants).length;

/** All in one read-only snapshot, so that a service that is running does not look broken. */
export const findBrokenInvariants = (db: Db): Promise<Finding[]> =>
  inTransaction(db, async (tx) => {
    await sql`set transaction isolation level repeatable read, read only`.execute(tx);
    await sql`set local statement_timeout = 0`.execute(tx);
    // The tables of the queue are made by the first start of the service.
    const { rows } = await sql<{ hasQueue: boolean }>`
      select to_regclass('pgboss.job') is not null as "hasQueue"`.execute(tx);
    if (rows[0]?.hasQueue !== true)
      throw new DatabaseFault('The service has never run on this database. Start it once, then check.');
    const findings: Finding[] = [];
    for (const [check, broken] of Object.entries(invariants)) findings.push(await look(tx, check, broken));
    return findings;
  });

async function look(tx: Tx, check: string, broken: RawBuilder<unknown>): Promise<Finding> {
  const { rows } = await sql<{ total: number; examples: string[] }>`
    with broken (id) as materialized (${broken})
    select (select count(*) from broken) as total,
      array(select id from broken limit ${sql.lit(shown)}) as examples
    ${acrossAccounts('doctor')}`.execute(tx);
  return { check, broken: rows[0]?.total ?? 0, examples: rows[0]?.examples ?? [] };
}
