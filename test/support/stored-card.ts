/** Stores a card with an Idempotency-Key, and counts what was stored. */
import type { Caller } from './call.ts';
import { query } from './database.ts';

export const sentCard = {
  method: 'card',
  number: '4242424242424242',
  expiration_date: '12/39',
  security_code: '737',
};

export const store = async (call: Caller, token: string, key: string) => {
  const answer = await call('POST', '/payment-methods', {
    token,
    body: sentCard,
    headers: { 'Idempotency-Key': key },
  });
  return { ...answer, replayed: answer.headers.get('idempotency-replayed') };
};

export const countCards = async (databaseUrl: string) =>
  Number((await query(databaseUrl, 'select count(*) as total from payment_methods'))[0]?.total);
