/** Helpers for webhook tests: subscribe, cause events, check deliveries. */
import { sql } from 'kysely';
import { Webhook } from 'standardwebhooks';
import { expect } from 'vitest';
import { sendOptions } from '../../server/kit/events/send.ts';
import { card } from './card.ts';
import type { Got } from './receiver.ts';
import type { TestService } from './service.ts';

/**
 * A retry schedule in hundredths of a second instead of hours; the real one has its own tests. The time for an answer is the real one: on a
 * slow machine a shorter one would cause attempts that a test does not expect.
 */
export const hasty = {
  schedule: (attempts: number, retryAfter: number | undefined) =>
    attempts < 4 ? Math.max(0.02, (retryAfter ?? 0) / 100) : undefined,
  options: sendOptions({ environment: 'sandbox' }),
};

/** A longer timeout, for tests in which a slow machine must not look like a slow receiver. */
export const patient = { ...hasty, options: { ...hasty.options, milliseconds: 60_000 } };

export interface Subscription {
  id: string;
  secret: string;
}

const call = async (service: TestService, path: string, body: object, account: string) => {
  const headers = { 'X-Service-Merchant-Account-ID': account };
  const answer = await service.call('POST', path, { token: service.token('*.write'), body, headers });
  expect(answer.status).toBe(201);
  return answer.body;
};

export const subscribe = async (
  service: TestService,
  url: string,
  { account = 'default', ...extra }: { account?: string } & Record<string, unknown> = {},
) => (await call(service, '/webhook-subscriptions', { url, ...extra }, account)) as Subscription;

export const unsubscribe = ({ service }: TestService, { id }: Subscription) =>
  service.database.db.deleteFrom('webhook_subscriptions').where('id', '=', id).execute();

/** Causes an event; returns the ID of the payment method. */
export const storeCard = async (service: TestService, account = 'default') =>
  ((await call(service, '/payment-methods', card, account)) as { id: string }).id;

/** As many events and deliveries to this subscription as if they had just been caused. */
export const causeDeliveries = async (
  { service }: TestService,
  { id }: Subscription,
  number: number,
  account = 'default',
): Promise<void> => {
  await sql`
    with made as (
      insert into events (id, name, merchant_account_id, body, created_at)
      select gen_random_uuid(), 'payment-method.created', ${account}, '{}', now()
      from generate_series(1, ${number}) returning merchant_account_id, id, created_at)
    insert into deliveries (merchant_account_id, created_at, event_id, subscription_id)
    select merchant_account_id, created_at, id, ${id}::uuid from made`.execute(
    service.database.background.db,
  );
};

/** Polls, because there is no event to wait for when a row changes. The error shows what was looked for. */
export const until = async <T>(look: () => Promise<T | undefined | false>, seconds = 60): Promise<T> => {
  for (
    const end = Date.now() + seconds * 1000;
    Date.now() < end;
    await new Promise((done) => setTimeout(done, 20))
  ) {
    const found = await look();
    if (found) return found;
  }
  throw new Error(`Not within ${seconds} s: ${look.toString().replaceAll(/\s+/g, ' ').slice(0, 400)}`);
};

/** Waits until the first delivery of a subscription is no longer pending, and returns it. */
export const settled = ({ service }: TestService, { id }: Subscription) =>
  until(async () => {
    const query = service.database.db.selectFrom('deliveries').selectAll().where('subscription_id', '=', id);
    const delivery = await query.executeTakeFirst();
    return delivery && delivery.state !== 'pending' && delivery;
  });

/** Uses an independent library; throws when the signature is wrong. */
export const verify = (secret: string, got: Got | undefined) => {
  if (!got) throw new Error('nothing came');
  return new Webhook(secret).verify(got.body, got.headers as Record<string, string>) as {
    name: string;
    id: string;
    target: { id: string };
  };
};
