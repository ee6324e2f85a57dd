// What changes webhook subscriptions and their deliveries.
import { randomBytes } from 'node:crypto';
import type { Vault } from '../domain/vault.ts';
import { reopenDeliveries, type DeliveryFilter, type Due } from '../store/events.ts';
import type { Tx } from '../store/database.ts';
import {
  deleteWebhookSubscription,
  insertWebhookSubscription,
  rotateSecret,
  setActive,
  type WebhookSubscriptionRow,
} from '../store/webhook-subscriptions.ts';
import type { Work } from './unit-of-work.ts';

export interface NewSubscription {
  /** Null for all accounts. */
  merchant_account_id: string | null;
  url: string;
  active: boolean;
  authentication: { username: string; password: string } | null;
}

const makeSecret = () => `whsec_${randomBytes(24).toString('base64')}`;

export async function createSubscription(
  { db }: Work,
  { authentication, ...columns }: NewSubscription,
  vault: Vault,
): Promise<{ row: WebhookSubscriptionRow; secret: string }> {
  const secret = makeSecret();
  const row = await insertWebhookSubscription(db, {
    ...columns,
    username: authentication && authentication.username,
    password_sealed: authentication && vault.seal(authentication.password, 'webhook'),
    secret_sealed: vault.seal(secret, 'webhook'),
  });
  return { row, secret };
}

/** Undefined when there is no such subscription, or when an older secret is still valid. */
export async function rotateSubscription(
  { db, now }: Work,
  id: string,
  keepMilliseconds: number,
  vault: Vault,
): Promise<{ secret: string; until: Date } | undefined> {
  const secret = makeSecret();
  const until = new Date(now.getTime() + keepMilliseconds);
  const rotated = await rotateSecret(db, id, vault.seal(secret, 'webhook'), until, now);
  return rotated && { secret, until };
}

/** False when there is no such subscription. */
export const switchSubscription = ({ db, now }: Work, id: string, active: boolean): Promise<boolean> =>
  setActive(db, id, active, now);

/** False when there is no such subscription. */
export const deleteSubscription = ({ db }: Work, id: string): Promise<boolean> =>
  deleteWebhookSubscription(db, id);

/** Delivers again, with the whole retry schedule. Deliveries of switched-off subscriptions are only counted. */
export async function replayDeliveries(
  { db }: Work,
  filter: Omit<DeliveryFilter, 'limit'>,
  enqueue: (tx: Tx, due: readonly Due[]) => Promise<void>,
): Promise<{ replayed: number; switchedOff: number }> {
  const { due, switchedOff } = await reopenDeliveries(db, filter);
  await enqueue(db, due);
  return { replayed: due.length, switchedOff };
}
