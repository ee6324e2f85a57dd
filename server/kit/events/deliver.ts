// One attempt at a delivery, and what follows from it.
import { createHmac } from 'node:crypto';
import type { Logger } from 'pino';
import { programName } from '../../../generated/operations.ts';
import type { Db } from '../database/database.ts';
import type { DatabaseTime } from '../rules/database-time.ts';
import type { Vault } from '../secrets/vault.ts';
import { type Attempt, readRetryAfter } from './attempts.ts';
import type { LeasedDelivery } from './deliveries.ts';
import { describeFailure } from './failure.ts';
import type { Send, SendOptions } from './send.ts';

export interface DeliverDeps {
  db: Db;
  vault: Vault;
  log: Logger;
  options: SendOptions;
  /** Seconds until the next attempt; undefined when there is none. */
  schedule: (attempts: number, retryAfter: number | undefined) => number | undefined;
  /** For what is recorded. Left out when metrics are off. */
  noteAttempt?: ((state: Attempt['state']) => void) | undefined;
  tracing?: DeliveryTracing | undefined;
}

/** Made by maintenance/tracing.ts. */
export interface DeliveryTracing {
  beginDelivery: (given: string | undefined) => {
    /** For the receiver. */
    traceparent: string | undefined;
    traceId: string | undefined;
    end: (succeeded: boolean) => void;
  };
}

export interface AttemptContext extends DeliverDeps {
  send: Send;
  /** Cancels the attempt. A cancelled attempt is not recorded. */
  signal: AbortSignal;
}

/** Throws when it was cancelled. */
export async function deliver(
  delivery: LeasedDelivery,
  at: DatabaseTime,
  context: AttemptContext,
): Promise<Attempt> {
  const begun = performance.now();
  const traced = context.tracing?.beginDelivery(delivery.traceparent ?? undefined);
  const { retryAfter, ...answered } = delivery.active
    ? await post(delivery, at, traced?.traceparent, context)
    : unsent('the subscription is switched off');
  const milliseconds = Math.round(performance.now() - begun);
  const { status } = answered;
  const succeeded = status !== null && status >= 200 && status < 300;
  const isFinal = succeeded || status === 410 || !delivery.active;
  const failures = delivery.attempts + 1 - delivery.attempts_before;
  const wait = isFinal ? undefined : context.schedule(failures, retryAfter);
  const state = succeeded ? 'succeeded' : wait === undefined ? 'failed' : 'pending';
  traced?.end(succeeded);
  return { delivery, at, milliseconds, ...answered, state, wait, traceId: traced?.traceId };
}

const unsent = (error: string) => ({ status: null, error, answer: null, retryAfter: undefined });

async function post(
  delivery: LeasedDelivery,
  at: DatabaseTime,
  traceparent: string | undefined,
  { vault, send, signal, log }: AttemptContext,
) {
  let opened: ReturnType<typeof openDelivery>;
  try {
    opened = openDelivery(delivery, at, vault);
  } catch (error) {
    log.error(
      { err: error, subscription: delivery.subscription_id },
      `the secrets of a webhook subscription cannot be opened; see: ${programName} doctor`,
    );
    return unsent('the secrets of the subscription cannot be opened');
  }
  try {
    const { merchant_account_id: account, subscription_id: subscription, url, body } = delivery;
    const signed = webhookHeaders(delivery.event_id, body, opened.secrets, at);
    const headers = traceparent === undefined ? signed : { ...signed, traceparent };
    const reply = await send({ account, subscription, url, body, headers, ...opened }, signal);
    return { ...reply, error: errorOf(reply.status), retryAfter: readRetryAfter(reply.retryAfter, at) };
  } catch (error) {
    if (signal.aborted) throw error;
    return unsent(describeFailure(error));
  }
}

/** Throws when the row is damaged or its key is missing. */
function openDelivery(delivery: LeasedDelivery, at: DatabaseTime, vault: Vault) {
  const { subscription_account_id: owner, subscription_id: id } = delivery;
  const open = (sealed: string, purpose: string) => vault.open(sealed, { purpose, owner, id });
  const secrets = [open(delivery.secret_sealed, 'webhook-secret')];
  const { old_secret_sealed: old, old_secret_until: until, username, password_sealed } = delivery;
  if (old !== null && until !== null && until > at) secrets.push(open(old, 'webhook-secret'));
  const hasLogin = username !== null && password_sealed !== null;
  if (!hasLogin) return { secrets, login: undefined };
  return { secrets, login: { username, password: open(password_sealed, 'webhook-password') } };
}

/** What the status alone does not say. */
function errorOf(status: number): string | null {
  if (status >= 300 && status < 400) return 'redirects are not followed';
  return status === 101 ? 'switching protocols is not supported' : null;
}

// Signs as Standard Webhooks specifies: one signature per valid secret, over the ID, the timestamp and the body as sent.
export function webhookHeaders(
  id: string,
  body: string,
  secrets: readonly string[],
  now: Date,
): Record<string, string> {
  const timestamp = String(Math.floor(now.getTime() / 1000));
  const sign = (secret: string) => {
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  };
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': secrets.map(sign).join(' '),
  };
}
