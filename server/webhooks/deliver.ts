// Handles one job of the queue: makes the attempt, and decides what to record and when the next one is.
import type { Logger } from 'pino';
import type { Purpose, Vault } from '../domain/vault.ts';
import { findRecipients, type DueDelivery } from '../store/events.ts';
import type { Db } from '../store/database.ts';
import { describeFailure } from './failure.ts';
import type { Limit } from './limit.ts';
import type { Answered } from './places.ts';
import type { Job, Queue } from './queue.ts';
import type { Record } from './record.ts';
import { readRetryAfter } from './schedule.ts';
import type { Send, SendOptions } from './send.ts';
import { webhookHeaders } from './sign.ts';

export interface DeliverDeps {
  db: Db;
  queue: Queue;
  vault: Vault;
  log: Logger;
  now: () => Date;
  options: SendOptions;
  /** Seconds until the next attempt; undefined when there is none. */
  schedule: (attempts: number, retryAfter: number | undefined) => number | undefined;
  /** Left out when they are off. */
  noteAttempt?: ((outcome: 'succeeded' | 'retried' | 'given_up') => void) | undefined;
  tracing?: DeliveryTracing | undefined;
}

/** tracing/index.ts */
export interface DeliveryTracing {
  beginDelivery: (given: string | undefined) => {
    /** For the receiver. */
    traceparent: string | undefined;
    traceId: string | undefined;
    end: (succeeded: boolean) => void;
  };
}

interface Outcome {
  status: number | null;
  error: string | null;
  retryAfter: number | undefined;
}

/** Shared by all attempts of one worker. */
interface AttemptContext extends DeliverDeps {
  open: Vault['open'];
  send: Send;
  record: Record;
  /** Of database transactions. */
  limit: Limit;
  /** Cancels the attempt. A cancelled attempt is not recorded. */
  signal: AbortSignal;
}

/** Makes the attempt, which `finish` of the answer then records. Throws when it was cancelled. */
export async function deliver(job: Job, delivery: DueDelivery, context: AttemptContext): Promise<Answered> {
  const { db, queue, log, now, schedule, limit, record } = context;
  // The event was delivered already, or it was replayed since and the replay has a job of its own.
  if (delivery.state !== 'pending' || delivery.round !== job.round)
    return { succeeded: true, finish: () => limit(() => queue.complete(db, [job.id])) };
  const at = now();
  const begun = performance.now();
  const traced = context.tracing?.beginDelivery(job.traceparent);
  const outcome = delivery.active
    ? await attempt(delivery, at, traced?.traceparent, context)
    : skippedBecauseInactive;
  const milliseconds = Math.round(performance.now() - begun);
  const { status, error } = outcome;
  const succeeded = status !== null && status >= 200 && status < 300;
  const final = succeeded || status === 410 || !delivery.active;
  const failures = delivery.attempts + 1 - delivery.attempts_before;
  const wait = final ? undefined : schedule(failures, outcome.retryAfter);
  const state = succeeded ? 'succeeded' : wait === undefined ? 'failed' : 'pending';
  traced?.end(succeeded);
  context.noteAttempt?.(state === 'pending' ? 'retried' : state === 'failed' ? 'given_up' : state);
  const finish = async () => {
    const { id, attempts, round } = delivery;
    const isThere = await record({
      ...{ id, attempts, round, job, state, wait },
      attempt: { at, status, milliseconds, error },
      outcome: succeeded ? 'succeeded' : status === 410 ? 'gone' : 'failed',
    });
    const facts = {
      traceId: traced?.traceId,
      event: delivery.event_id,
      subscription: delivery.subscription_id,
      attempt: attempts + 1,
      status,
      milliseconds,
    };
    log.info(
      { ...facts, error: error ?? undefined, nextInSeconds: isThere && wait ? Math.round(wait) : undefined },
      `webhook ${isThere ? state : await endOf(job, db)}`,
    );
  };
  return { succeeded, finish };
}

/** Why a delivery is no longer there: `payments buyers erase`, or its subscription was deleted. */
export const endOf = async ({ subscription_id: id }: Job, db: Db): Promise<'erased' | 'deleted'> =>
  (await findRecipients(db, [id])).length > 0 ? 'erased' : 'deleted';

const skippedBecauseInactive: Outcome = {
  status: null,
  error: 'the subscription is switched off',
  retryAfter: undefined,
};

async function attempt(
  delivery: DueDelivery,
  at: Date,
  traceparent: string | undefined,
  { open, send, signal, log }: AttemptContext,
): Promise<Outcome> {
  let opened: Opened;
  try {
    opened = openSecrets(delivery, at, open);
  } catch (error) {
    log.error(
      { err: error, subscription: delivery.subscription_id },
      'the secrets of a webhook subscription cannot be opened; see: payments doctor',
    );
    return { status: null, error: 'the secrets of the subscription cannot be opened', retryAfter: undefined };
  }
  try {
    const { secrets, login } = opened;
    const signed = webhookHeaders(delivery.event_id, delivery.body, secrets, at);
    const headers = traceparent === undefined ? signed : { ...signed, traceparent };
    const { merchant_account_id: account, subscription_id: subscription, url, body } = delivery;
    const { status, retryAfter } = await send({ account, subscription, url, body, headers, login }, signal);
    return { status, error: errorOf(status), retryAfter: readRetryAfter(retryAfter, at) };
  } catch (error) {
    if (signal.aborted) throw error;
    return { status: null, error: describeFailure(error), retryAfter: undefined };
  }
}

interface Opened {
  secrets: string[];
  login: { username: string; password: string } | undefined;
}

/** Throws when the row is damaged or its key is missing. */
function openSecrets(delivery: DueDelivery, at: Date, openValue: Vault['open']): Opened {
  const { subscription_account_id: owner, subscription_id: id } = delivery;
  const open = (sealed: string, purpose: Purpose) => openValue(sealed, { purpose, owner, id });
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
