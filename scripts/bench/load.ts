// What is asked of the subjects, and how: with autocannon. Every answer must have the expected status, because an error is often
// faster than an answer.
import autocannon from 'autocannon';

export interface Call {
  method: 'GET' | 'POST';
  path: string;
  body?: string;
  status: number;
}

export const page = '/transactions?limit=20';
export const card = { method: 'card', number: '4111111111111111', expiration_date: '12/39' };

export const cases = {
  page: { method: 'GET', path: page, status: 200 },
  // Of all that is accepted, what costs most, found by trying single filters and pairs: a value that many rows have, and another
  // filter that none of them passes.
  dearest: {
    method: 'GET',
    path: `${page}&metadata=${encodeURIComponent('{"channel":"web"}')}&amount_gte=9007199254740991`,
    status: 200,
  },
  cards: { method: 'POST', path: '/payment-methods', status: 201, body: JSON.stringify(card) },
} satisfies Record<string, Call>;

/** For so many seconds, or until so many requests are answered. `p99` in milliseconds. */
export async function load(
  url: string,
  { method, path, body, status }: Call,
  token: string,
  amount: { seconds: number } | { requests: number },
) {
  const found = await autocannon({
    url: url + path,
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body }),
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
