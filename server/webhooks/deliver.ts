// Handles one job of the queue: makes the attempt, then records it and schedules the next one in one transaction.
import type { Logger } from 'pino';
import type { Purpose, Sealer, Vault } from '../domain/vault.ts';
import { noteOutcome, recordAttempt, type DueDelivery } from '../store/events.ts';
import { inTransaction, type Db } from '../store/database.ts';
import { describeFailure } from './failure.ts';
import type { Limit } from './limit.ts';
import type { Job, Queue } from './queue.ts';
import { readRetryAfter, switchOffAfterMilliseconds } from './schedule.ts';
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
  /** As it was before the delivery was read. */
  sealer: Sealer;
  send: Send;
  /** Of database transactions. */
  limit: Limit;
  /** Cancels the attempt. A cancelled attempt is not recorded. */
  signal: AbortSignal;
}

/** Returns false when the receiver failed. Throws when the attempt was cancelled or could not be recorded. */
export async function deliver(job: Job, delivery: DueDelivery, context: AttemptContext): Promise<boolean> {
  const { db, queue, log, now, schedule, limit } = context;
  // The event was delivered already, or it was replayed since and the replay has a job of its own.
  if (delivery.state !== 'pending' || delivery.round !== job.round) {
    await limit(() => queue.complete(db, [job.id]));
    return true;
  }
  const at = now();
  const begun = performance.now();
  const traced = context.tracing?.beginDelivery(job.traceparent);
  const outcome = delivery.active
    ? await attempt(delivery, at, traced?.traceparent, context)
    : skippedBecauseInactive;
  const milliseconds = Math.round(performance.now() - begun);
  const succeeded = outcome.status !== null && outcome.status >= 200 && outcome.status < 300;
  const final = succeeded || outcome.status === 410 || !delivery.active;
  const failures = delivery.attempts + 1 - delivery.attempts_before;
  const wait = final ? undefined : schedule(failures, outcome.retryAfter);
  const state = succeeded ? 'succeeded' : wait === undefined ? 'failed' : 'pending';
  const { subscription_id, merchant_account_id, created_at: createdAt } = delivery;
  traced?.end(succeeded);
  context.noteAttempt?.(state === 'pending' ? 'retried' : state === 'failed' ? 'given_up' : state);
  const { round, traceparent } = job;
  const due = {
    subscription_id,
    merchant_account_id,
    deliveryId: delivery.id,
    createdAt,
    round,
    traceparent,
  };
  const switchedOff = await limit(() =>
    inTransaction(db, async (transaction) => {
      const isCurrent = await recordAttempt(
        transaction,
        delivery,
        { at, status: outcome.status, milliseconds, error: outcome.error },
        state,
      );
      if (isCurrent && wait !== undefined) await queue.add(transaction, [due], { afterSeconds: wait });
      await queue.complete(transaction, [job.id]);
      const result = succeeded ? 'succeeded' : outcome.status === 410 ? 'gone' : 'failed';
      return noteOutcome(transaction, delivery.subscription_id, result, {
        now: at,
        switchOffAfterMilliseconds,
      });
    }),
  );
  const facts = {
    traceId: traced?.traceId,
    event: delivery.event_id,
    subscription: delivery.subscription_id,
    attempt: delivery.attempts + 1,
    status: outcome.status,
    milliseconds,
  };
  log.info(
    { ...facts, error: outcome.error ?? undefined, nextInSeconds: wait && Math.round(wait) },
    `webhook ${state}`,
  );
  if (switchedOff)
    log.warn(
      { subscription: delivery.subscription_id },
      'the webhook subscription failed and was switched off; to switch it on again: payments webhooks activate ID',
    );
  return succeeded;
}

const skippedBecauseInactive: Outcome = {
  status: null,
  error: 'the subscription is switched off',
  retryAfter: undefined,
};

async function attempt(
  delivery: DueDelivery,
  at: Date,
  traceparent: string | undefined,
  { sealer, send, signal, log }: AttemptContext,
): Promise<Outcome> {
  let opened: Opened;
  try {
    opened = openSecrets(delivery, at, sealer);
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
    const { merchant_account_id: account, url, body } = delivery;
    const { status, retryAfter } = await send({ account, url, body, headers, login }, signal);
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
function openSecrets(delivery: DueDelivery, at: Date, sealer: Sealer): Opened {
  const { subscription_account_id: owner, subscription_id: id } = delivery;
  const open = (sealed: string, purpose: Purpose) => sealer.open(sealed, { purpose, owner, id });
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
