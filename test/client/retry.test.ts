// Which requests are retried and after which delay. Tests pass their own `sleep`.
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createPaymentsClient, type RetryOptions } from '../../client/index.ts';
import { startTestService, type TestService } from '../support/service.ts';

const body = { items: [{ number: '9999000050001234', pin: '1234' }] };

type Outcome = Response | Error;
const answer = (status: number, headers: Record<string, string> = {}): Response =>
  new Response('{}', { status, headers });
const limited = (retryAfter?: string) =>
  answer(429, retryAfter === undefined ? {} : { 'Retry-After': retryAfter });

/** A client whose requests have these outcomes in order, with a record of its requests and delays. */
function rehearse(outcomes: Outcome[], retry: RetryOptions = {}) {
  const waits: number[] = [];
  const bodies: string[] = [];
  const tokens: (string | null)[] = [];
  let asked = 0;
  const client = createPaymentsClient({
    baseUrl: 'http://service.test',
    token: () => `token-${(asked += 1)}`,
    retry: {
      sleep: (milliseconds) => {
        waits.push(milliseconds / 1000);
        return Promise.resolve();
      },
      ...retry,
    },
    fetch: async (request) => {
      bodies.push(await request.text());
      tokens.push(request.headers.get('Authorization'));
      const outcome = outcomes[bodies.length - 1] ?? new Error('one call too many');
      if (outcome instanceof Error) throw outcome;
      return outcome;
    },
  });
  return { client, waits, bodies, tokens };
}

describe('429', () => {
  it('is waited for as Retry-After says, and the same body is sent again with a token that still holds', async () => {
    const { client, waits, bodies, tokens } = rehearse([limited('7'), limited('0'), answer(200)]);
    const { response } = await client.POST('/gift-cards/balances', { body });
    expect(response.status).toBe(200);
    expect(waits).toEqual([7, 0]);
    expect(bodies).toEqual(Array.from({ length: 3 }, () => JSON.stringify(body)));
    expect(tokens).toEqual(['Bearer token-1', 'Bearer token-2', 'Bearer token-3']);
  });

  it('is answered after the third try', async () => {
    const { client, waits } = rehearse([limited('1'), limited('2'), limited('3')]);
    expect((await client.POST('/gift-cards/balances', { body })).response.status).toBe(429);
    expect(waits).toEqual([1, 2]);
  });

  it('is answered at once when it would take more than a minute', async () => {
    const { client, waits } = rehearse([limited('61')]);
    expect((await client.GET('/transactions')).response.status).toBe(429);
    expect(waits).toEqual([]);
    const patient = rehearse([limited('61'), answer(200)], { maxWaitSeconds: 100 });
    expect((await patient.client.GET('/transactions')).response.status).toBe(200);
    expect(patient.waits).toEqual([61]);
  });

  it('understands a date, and does without the header', async () => {
    const { client, waits } = rehearse(
      [
        limited(new Date(Date.now() + 10_000).toUTCString()),
        limited(),
        limited('soon'),
        limited(new Date(0).toUTCString()),
        answer(200),
      ],
      { tries: 9 },
    );
    expect((await client.GET('/transactions')).response.status).toBe(200);
    expect(waits[0]).toBeGreaterThan(8);
    expect(waits[0]).toBeLessThanOrEqual(10);
    expect(waits.slice(1)).toEqual([1, 2, 0]);
  });

  it('is answered at once with tries: 1', async () => {
    const { client, waits } = rehearse([limited('1')], { tries: 1 });
    expect((await client.GET('/transactions')).response.status).toBe(429);
    expect(waits).toEqual([]);
  });
});

describe('what may have changed something', () => {
  const lost = new TypeError('fetch failed');

  it.each([500, 502, 503, 504])('a POST answered with %i is not sent again', async (status) => {
    const { client, bodies } = rehearse([answer(status, { 'Retry-After': '1' })]);
    expect((await client.POST('/gift-cards/balances', { body })).response.status).toBe(status);
    expect(bodies).toHaveLength(1);
  });

  it('a POST whose connection was lost is not sent again', async () => {
    const { client, bodies } = rehearse([lost]);
    await expect(client.POST('/gift-cards/balances', { body })).rejects.toBe(lost);
    expect(bodies).toHaveLength(1);
  });

  it('a GET is, after a growing pause', async () => {
    const { client, waits } = rehearse([lost, answer(502), answer(200)]);
    expect((await client.GET('/transactions')).response.status).toBe(200);
    expect(waits).toEqual([0.5, 1]);
  });

  it('a GET that never comes through ends with what came last', async () => {
    const { client } = rehearse([answer(500), lost, lost]);
    await expect(client.GET('/transactions')).rejects.toBe(lost);
  });

  it.each([400, 401, 403, 404, 409, 422, 425])('%i is final for a GET too', async (status) => {
    const { client, bodies } = rehearse([answer(status)]);
    expect((await client.GET('/transactions')).response.status).toBe(status);
    expect(bodies).toHaveLength(1);
  });
});

describe('an abort signal', () => {
  it('ends the wait with its reason, and nothing is left behind', async () => {
    vi.useFakeTimers();
    try {
      const controller = new AbortController();
      const { client, bodies } = rehearse([limited('30')], { sleep: undefined });
      const call = client.GET('/transactions', { signal: controller.signal });
      const refused = expect(call).rejects.toThrow('left the page');
      await vi.waitUntil(() => vi.getTimerCount() === 1);
      controller.abort(new Error('left the page'));
      await refused;
      expect(vi.getTimerCount()).toBe(0);
      expect(bodies).toHaveLength(1);
    } finally {
      vi.useRealTimers();
    }
  });

  it('is not mistaken for a lost connection', async () => {
    const controller = new AbortController();
    const aborted = new Error('aborted');
    const sleep = vi.fn(() => Promise.resolve());
    const client = createPaymentsClient({
      baseUrl: 'http://service.test',
      token: 'x',
      retry: { sleep },
      fetch: () => {
        controller.abort();
        return Promise.reject(aborted);
      },
    });
    await expect(client.GET('/transactions', { signal: controller.signal })).rejects.toBe(aborted);
    expect(sleep).not.toHaveBeenCalled();
  });

  it('lets the real sleep end by itself when nobody aborts', async () => {
    const { client } = rehearse([answer(502), answer(200)], { sleep: undefined });
    const began = performance.now();
    expect((await client.GET('/transactions')).response.status).toBe(200);
    expect(performance.now() - began).toBeGreaterThan(450);
  });
});

describe('the real rate limit', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService();
  });
  afterAll(() => service[Symbol.asyncDispose]());

  it('is met with an embed token, waited for, and then let through', async () => {
    const waits: number[] = [];
    let token = service.token('embed');
    const client = createPaymentsClient({
      baseUrl: service.url,
      token: () => token,
      retry: {
        sleep: (milliseconds) => {
          waits.push(milliseconds / 1000);
          // A new token instead of a wait of a minute, because each token has its own rate limit.
          token = service.token('embed', 'gift-cards.read');
          return Promise.resolve();
        },
      },
    });
    const call = async () => (await client.POST('/gift-cards/balances', { body })).response.status;
    for (let number = 0; number < 50; number += 1) expect(await call()).toBe(200);
    expect(waits).toEqual([]);
    expect(await call()).toBe(200);
    expect(waits).toHaveLength(1);
    expect(waits[0]).toBeGreaterThanOrEqual(1);
    expect(waits[0]).toBeLessThanOrEqual(60);
  });
});
