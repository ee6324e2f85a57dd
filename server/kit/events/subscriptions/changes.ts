import { randomBytes, randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { acrossAccounts } from '../../database/across-accounts.ts';
import { notBack } from '../../database/columns.ts';
import type { Tx } from '../../database/database.ts';
import { lockUntilCommit, type InStep, type Work } from '../../database/unit-of-work.ts';
import { allAccounts } from '../../rules/accounts.ts';
import { later, type DatabaseTime } from '../../rules/database-time.ts';
import type { Vault } from '../../secrets/vault.ts';
import { reopenDeliveries, type DeliveryFilter } from '../delivery-list.ts';
import {
  countWebhookSubscriptions,
  findWebhookSubscription,
  insertWebhookSubscription,
  rotateSecret,
} from './queries.ts';
import type { WebhookSubscriptionRow } from './table.ts';

// How many webhook subscriptions there may be. Each event is one outgoing request per active subscription, so without a limit
// one small POST causes as many requests as somebody likes.

/** For each merchant account, and for the subscriptions to all accounts together. */
export const subscriptionLimits = { active: 50, withInactive: 500 };

/** The reason is a sentence for whoever wanted one more. */
interface TooMany {
  kind: 'tooMany';
  reason: string;
}

const whose = (account: string | null) =>
  account === null ? 'for all merchant accounts' : `of merchant account ${account}`;

/** For a subscription that becomes active. `active`: how many there are already. */
function findTooManyActive(active: number, account: string | null): TooMany | undefined {
  if (active < subscriptionLimits.active) return undefined;
  const reason = `There may be at most ${subscriptionLimits.active} active webhook subscriptions ${whose(account)}. Switch one off first.`;
  return { kind: 'tooMany', reason };
}

/** For a new subscription. `all`: how many there are already, with inactive ones. */
function findTooMany(all: number, account: string | null): TooMany | undefined {
  if (all < subscriptionLimits.withInactive) return undefined;
  const reason = `There may be at most ${subscriptionLimits.withInactive} webhook subscriptions ${whose(account)}, with inactive ones.`;
  return { kind: 'tooMany', reason };
}

/** Deliveries have signed events in them, so plain http is for the sandbox. */
export const isSchemeAllowed = (url: string, environment: 'sandbox' | 'production'): boolean =>
  environment === 'sandbox' || url.startsWith('https://');

interface NewSubscription {
  merchant_account_id: string | null;
  url: string;
  active: boolean;
  authentication: { username: string; password: string } | null;
}

const makeSecret = () => `whsec_${randomBytes(24).toString('base64')}`;

/** Until the commit nobody else counts or adds subscriptions of this account. */
const lockSubscriptions = (db: Tx, account: string | null): Promise<void> =>
  lockUntilCommit(db, `webhook subscriptions of ${account ?? allAccounts}`);

export async function createSubscription(
  { db }: Work,
  { authentication, ...columns }: NewSubscription,
  { seal }: Vault,
): Promise<{ kind: 'made'; row: WebhookSubscriptionRow; secret: string } | TooMany> {
  const { merchant_account_id: account, active } = columns;
  await lockSubscriptions(db, account);
  const existing = await countWebhookSubscriptions(db, account);
  const fault =
    findTooMany(existing.all, account) ?? (active ? findTooManyActive(existing.active, account) : undefined);
  if (fault) return fault;
  const secret = makeSecret();
  const place = { owner: account, id: randomUUID() };
  const row = await insertWebhookSubscription(db, {
    ...columns,
    id: place.id,
    username: authentication && authentication.username,
    password_sealed:
      authentication && seal(authentication.password, { ...place, purpose: 'webhook-password' }),
    secret_sealed: seal(secret, { ...place, purpose: 'webhook-secret' }),
  });
  return { kind: 'made', row, secret };
}

interface Rotated {
  kind: 'rotated';
  secret: string;
  until: DatabaseTime;
  rotating: boolean;
}

/** An older secret is still valid, and there may be two at most. */
interface StillRotating {
  kind: 'stillRotating';
  until: Date | null;
}

/** Undefined when there is no such subscription. */
export async function rotateSubscription(
  { db, now }: Work,
  id: string,
  keepMilliseconds: number,
  { seal }: Vault,
): Promise<Rotated | StillRotating | undefined> {
  const found = await findWebhookSubscription(db, id);
  if (!found) return undefined;
  const secret = makeSecret();
  const until = later(now, keepMilliseconds);
  const sealed = seal(secret, { purpose: 'webhook-secret', owner: found.merchant_account_id, id });
  const rotated = await rotateSecret(db, id, sealed, until, now);
  if (rotated) return { kind: 'rotated', secret, until, rotating: keepMilliseconds > 0 };
  // Read again: another rotation may have come between, or a deletion.
  const other = await findWebhookSubscription(db, id);
  return other && { kind: 'stillRotating', until: other.old_secret_until };
}

/** Undefined when there is no such subscription. */
export async function switchSubscription(
  { db, now }: Work,
  id: string,
  active: boolean,
): Promise<{ kind: 'switched' } | TooMany | undefined> {
  const found = active ? await findWebhookSubscription(db, id) : undefined;
  if (found) {
    const { merchant_account_id: account } = found;
    await lockSubscriptions(db, account);
    // Read again under the lock. One that is active stays so, also where there are too many.
    const isActive = (await findWebhookSubscription(db, id))?.active;
    const fault =
      isActive === false
        ? findTooManyActive((await countWebhookSubscriptions(db, account)).active, account)
        : undefined;
    if (fault) return fault;
  }
  // `failing_since` begins anew: from it the five days until a switch-off count.
  const { numUpdatedRows } = await db
    .updateTable('webhook_subscriptions')
    .set({ active, failing_since: null, updated_at: notBack(now) })
    .where('id', '=', id)
    .executeTakeFirst();
  return numUpdatedRows > 0n ? { kind: 'switched' } : undefined;
}

const deletedAtOnce = 1000;

/**
 * With its deliveries. Undefined when there is no such subscription. In steps, none of which locks both the subscription and a delivery:
 * a worker locks a delivery first, and would deadlock with whoever locks the subscription first.
 */
export async function deleteSubscription(
  inStep: InStep,
  id: string,
): Promise<{ kind: 'deleted' } | undefined> {
  // First, so that events that happen from now on are not stored for it.
  const found = await inStep(async (unit) => {
    const switched = await switchSubscription(unit, id, false);
    if (switched) await unit.audit({});
    return switched;
  });
  if (!found) return undefined;
  while ((await inStep(({ db }) => deleteSome(db, id))) > 0);
  await inStep(({ db }) => db.deleteFrom('webhook_subscriptions').where('id', '=', id).execute());
  // Transactions that began before may have stored some meanwhile. What they store later is never sent, and deleted with its event.
  while ((await inStep(({ db }) => deleteSome(db, id))) > 0);
  return { kind: 'deleted' };
}

/** Some deliveries of one account. Returns how many; 0 when there are none of any account. */
async function deleteSome(db: Tx, subscription: string): Promise<number> {
  const { rows: accounts } = await sql<{ account: string }>`
    select merchant_account_id as account from deliveries where subscription_id = ${subscription} limit 1
    ${acrossAccounts('deliveries-of-subscription')}`.execute(db);
  const [{ account } = {}] = accounts;
  if (account === undefined) return 0;
  const { rows } = await sql<{ id: string }>`
    delete from deliveries where merchant_account_id = ${account} and id in (
      select id from deliveries where merchant_account_id = ${account} and subscription_id = ${subscription}
      limit ${deletedAtOnce})
    returning id`.execute(db);
  // After the deliveries, so that no attempt is recorded in between.
  await sql`
    delete from delivery_attempts
    where merchant_account_id = ${account}
      and delivery_id = any(${rows.map((row) => row.id)}::uuid[])`.execute(db);
  return rows.length;
}

/**
 * Delivers again, with the whole retry schedule, in steps of a transaction each. Deliveries of switched-off subscriptions are
 * only counted: `off` has the IDs of these subscriptions.
 */
export async function replayDeliveries(
  inStep: InStep,
  filter: Omit<DeliveryFilter, 'record'>,
): Promise<{ replayed: number; switchedOff: number; off: Set<string> }> {
  const total = { replayed: 0, switchedOff: 0, off: new Set<string>() };
  let step: Awaited<ReturnType<typeof reopenDeliveries>> | undefined;
  do {
    const after = step?.last;
    step = await inStep(async ({ db, audit }) => {
      const reopened = await reopenDeliveries(db, filter, after);
      if (reopened.replayed > 0) await audit({});
      return reopened;
    });
    total.replayed += step.replayed;
    total.switchedOff += step.switchedOff.length;
    for (const id of step.switchedOff) total.off.add(id);
  } while (step.last);
  return total;
}
