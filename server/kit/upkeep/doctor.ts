// Invariants of the data. Each is checked account by account, with read-only statements that have no time limit.
import { sql, type RawBuilder } from 'kysely';
import { acrossAccounts, listAccountsWith } from '../database/across-accounts.ts';
import type { Db, Tx } from '../database/database.ts';
import { inSnapshot } from '../database/unit-of-work.ts';

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

/** By table: each selects the IDs of what is broken in an account that has rows there. */
export type Invariants = Record<string, Record<string, (account: string) => RawBuilder<unknown>>>;

const invariants: Invariants = {
  deliveries: {
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
  },
  events: {
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
};

async function findBroken(
  tx: Tx,
  check: string,
  statements: readonly RawBuilder<unknown>[],
): Promise<Finding> {
  const finding: Finding = { check, broken: 0, examples: [] };
  for (const statement of statements) {
    const { rows } = await sql<{ total: number; examples: string[] }>`
      with broken (id) as materialized (${statement})
      select (select count(*) from broken) as total,
        array(select id from broken limit ${sql.lit(shown)}) as examples`.execute(tx);
    finding.broken += rows[0]?.total ?? 0;
    finding.examples = [...finding.examples, ...(rows[0]?.examples ?? [])].slice(0, shown);
  }
  return finding;
}

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

const overdue = 'no delivery is overdue by more than ten minutes';

/** All in one read-only snapshot, so that a service that is running does not look broken. */
export const findBrokenInvariants = (db: Db, own: Invariants): Promise<Finding[]> =>
  inSnapshot(db, async (tx) => {
    await sql`set local statement_timeout = 0`.execute(tx);
    // Unlike a request, it reads all rows of tables. This is PostgreSQL's own default.
    await sql`set local max_parallel_workers_per_gather = 2`.execute(tx);
    const findings: Finding[] = [];
    for (const [table, checks] of Object.entries({ ...own, ...invariants })) {
      const accounts = await listAccountsWith(tx, table);
      for (const [check, select] of Object.entries(checks))
        findings.push(await findBroken(tx, check, accounts.map(select)));
    }
    return [...findings, await findBroken(tx, overdue, [await selectOverdue(tx)])];
  });
