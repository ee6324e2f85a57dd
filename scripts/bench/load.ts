// What is asked of the subjects, and how: with autocannon. Every answer must have the expected status, because an error is often
// faster than an answer.
import { randomInt } from 'node:crypto';
import autocannon from 'autocannon';
import { passesLuhn } from '../../server/kit/rules/card-numbers.ts';

export interface Call {
  method: 'GET' | 'POST';
  path: string;
  status: number;
  /** The body, called for each request. */
  make?: () => object;
}

export const page = '/transactions?limit=20';

/** A new number of Visa. Hardly any two are alike in BIN and last four digits, so the limit on such numbers is never reached. */
export function makeCard() {
  const digits = `47${String(randomInt(1e13)).padStart(13, '0')}`;
  const number = Array.from('0123456789', (check) => digits + check).find(passesLuhn) ?? '';
  return { method: 'card', number, expiration_date: '12/39' };
}

export const cases = {
  page: { method: 'GET', path: page, status: 200 },
  cards: { method: 'POST', path: '/payment-methods', status: 201, make: makeCard },
} satisfies Record<string, Call>;

/** For so many seconds, or until so many requests are answered. `p99` in milliseconds. */
export async function load(
  url: string,
  { method, path, make, status }: Call,
  token: string,
  amount: { seconds: number } | { requests: number },
) {
  const setupRequest = (request: autocannon.Request) => ({ ...request, body: JSON.stringify(make?.()) });
  const found = await autocannon({
    url: url + path,
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(make && { requests: [{ setupRequest }] }),
    ...('seconds' in amount ? { duration: amount.seconds } : { amount: amount.requests }),
    connections: 16,
    timeout: 60,
    // It ends at a sample, so these are the steps of the duration.
    sampleInt: 50,
  });
  const others = Object.keys(found.statusCodeStats ?? {}).filter((code) => code !== String(status));
  if (others.length > 0 || found.errors > 0)
    throw new Error(
      `${url}${path} answered ${others.join(', ')}, with ${found.errors} errors, not ${status}`,
    );
  const requests = found['2xx'];
  return { requests, perSecond: requests / found.duration, p99: found.latency.p99 };
}
