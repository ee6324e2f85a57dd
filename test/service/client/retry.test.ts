// Which requests are retried and after which delay. Tests pass their own `sleep`.
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createPaymentsClient, type Retry, type RetryOptions } from '../../../client/server.ts';
import { card } from '../../support/card.ts';
import { startTestService, type TestService } from '../../support/service.ts';

const body = { items: [{ number: '9999000050001234', pin: '1234' }] };

type Outcome = Response | Error;
const answer = (status: number, headers: Record<string, string> = {}): Response =>
  new Response('{}', { status, headers });
/** The connection is lost in the middle of the body. */
const breakingOff = (status: number): Response => {
  const parts = [new TextEncoder().encode('{"it')];
  const body = new ReadableStream({
    pull(controller) {
      const part = parts.shift();
      if (part) controller.enqueue(part);
      else controller.error(new TypeError('terminated'));
    },
  });
  return new Response(body, { status });
};
const limited = (retryAfter?: string) =>
  answer(429, retryAfter === undefined ? {} : { 'Retry-After': retryAfter });

/** A client whose requests have these outcomes in order, with a record of its requests and delays. */
function rehearse(outcomes: Outcome[], retry: RetryOptions = {}) {
  const waits: number[] = [];
  const bodies: string[] = [];
  const tokens: (string | null)[] = [];
  const keys: (string | null)[] = [];
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
      keys.push(request.headers.get('Idempotency-Key'));
      const outcome = outcomes[bodies.length - 1] ?? new Error('one call too many');
      if (outcome instanceof Error) throw outcome;
      return outcome;
    },
  });
  return { client, waits, bodies, tokens, keys };
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
    const { error } = await client.POST('/gift-cards/balances', { body });
    expect(error).toMatchObject({ status: 429, retryAfterSeconds: 3 });
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

  it('is waited for a minute in all, and is then returned with its seconds', async () => {
    const { client, waits } = rehearse([limited('37'), limited('37')]);
    const { error } = await client.GET('/transactions');
    expect([waits, error?.retryAfterSeconds]).toEqual([[37], 37]);
    const often = rehearse([limited('25'), limited('25'), limited('25')], { tries: 9 });
    await often.client.GET('/transactions');
    expect(often.waits).toEqual([25, 25]);
  });

  it('is waited for five seconds in a browser, unless the page says otherwise', async () => {
    vi.stubGlobal('window', {});
    try {
      const { client, waits } = rehearse([limited('2'), limited('4')]);
      const { error } = await client.GET('/transactions');
      expect([waits, error?.retryAfterSeconds]).toEqual([[2], 4]);
      const patient = rehearse([limited('4'), limited('4'), answer(200)], { maxWaitSeconds: 8 });
      expect((await patient.client.GET('/transactions')).response.status).toBe(200);
    } finally {
      vi.unstubAllGlobals();
    }
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

  it('is not repeated at once when the header says years', async () => {
    const { client, bodies } = rehearse([limited('99999999999')]);
    expect((await client.GET('/transactions')).error?.retryAfterSeconds).toBe(99_999_999_999);
    // More than a timer can wait.
    const patient = rehearse([limited('3000000')], { maxWaitSeconds: Infinity, sleep: undefined });
    const signal = AbortSignal.timeout(200);
    await expect(patient.client.GET('/transactions', { signal })).rejects.toThrow('timeout');
    expect([bodies.length, patient.bodies.length]).toEqual([1, 1]);
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
    await expect(client.POST('/gift-cards/balances', { body })).resolves.toMatchObject({
      error: { code: 'no_response', cause: lost },
    });
    expect(bodies).toHaveLength(1);
  });

  it('a GET is, after a growing pause', async () => {
    const { client, waits } = rehearse([lost, answer(502), answer(200)]);
    expect((await client.GET('/transactions')).response.status).toBe(200);
    expect(waits).toEqual([0.5, 1]);
  });

  it.each([200, 502])('a GET whose answer, a %i, breaks off is too', async (status) => {
    const { client, waits } = rehearse([breakingOff(status), answer(200)]);
    expect((await client.GET('/transactions')).response.status).toBe(200);
    expect(waits).toEqual([0.5]);
  });

  it('a GET, and a write by its key, are when the database was away, after Retry-After', async () => {
    const away = () => answer(504, { 'Retry-After': '2' });
    const { client, waits, keys } = rehearse([away(), away(), answer(200), away(), answer(201)]);
    expect((await client.GET('/transactions')).response.status).toBe(200);
    expect((await client.POST('/payment-methods', { body: card })).response.status).toBe(201);
    expect(waits).toEqual([2, 2, 2]);
    expect(keys[3]).toMatch(/^[0-9a-f]{32}$/);
    expect(keys[4]).toBe(keys[3]);
  });

  it.each([400, 403, 404, 409, 422, 425])('%i is final for a GET too', async (status) => {
    const { client, bodies } = rehearse([answer(status)]);
    expect((await client.GET('/transactions')).response.status).toBe(status);
    expect(bodies).toHaveLength(1);
  });
});

describe('401', () => {
  it('asks for another token, and sends the same request again, also a write, without a pause', async () => {
    const { client, waits, bodies, tokens, keys } = rehearse([answer(401), answer(200)]);
    expect((await client.POST('/payment-methods', { body: card })).response.status).toBe(200);
    expect(tokens).toEqual(['Bearer token-1', 'Bearer token-2']);
    expect(bodies).toEqual([JSON.stringify(card), JSON.stringify(card)]);
    expect(keys[0]).toMatch(/^[0-9a-f]{32}$/);
    expect(keys[1]).toBe(keys[0]);
    expect(waits).toEqual([]);
  });

  it('is final the second time, also with other retries between, and without any', async () => {
    const twice = rehearse([answer(401), answer(401)]);
    expect((await twice.client.GET('/transactions')).response.status).toBe(401);
    expect(twice.tokens).toHaveLength(2);
    const between = rehearse([answer(401), limited('0'), answer(401)]);
    expect((await between.client.GET('/transactions')).response.status).toBe(401);
    expect(between.tokens).toEqual(['Bearer token-1', 'Bearer token-2', 'Bearer token-3']);
    const once = rehearse([answer(401), answer(200)], { tries: 1 });
    expect((await once.client.GET('/transactions')).response.status).toBe(200);
  });

  it('tells the function which token was refused; without another one nothing is sent again', async () => {
    const refused: (string | undefined)[] = [];
    const fetch = vi.fn(() => Promise.resolve(answer(401)));
    const token = (one?: string) => {
      refused.push(one);
      return 'same';
    };
    const client = createPaymentsClient({ baseUrl: 'http://service.test', token, fetch });
    const { error, response } = await client.GET('/transactions');
    expect([response.status, error?.status]).toEqual([401, 401]);
    expect(refused).toEqual([undefined, 'same']);
    expect(fetch).toHaveBeenCalledTimes(1);
  });

  it('is final for a fixed token, and for the header of the caller', async () => {
    const fetch = vi.fn(() => Promise.resolve(answer(401)));
    const fixed = createPaymentsClient({ baseUrl: 'http://service.test', token: 'x', fetch });
    await fixed.GET('/transactions');
    const token = vi.fn(() => 'x');
    const own = createPaymentsClient({ baseUrl: 'http://service.test', token, fetch });
    await own.GET('/transactions', { headers: { Authorization: 'Bearer y' } });
    expect([fetch.mock.calls.length, token.mock.calls.length]).toEqual([2, 0]);
  });

  it('rejects with the error of the function, as before a request', async () => {
    const loggedOut = new Error('logged out');
    const token = (refused?: string) => (refused === undefined ? 'x' : Promise.reject(loggedOut));
    const fetch = () => Promise.resolve(answer(401));
    const client = createPaymentsClient({ baseUrl: 'http://service.test', token, fetch });
    await expect(client.GET('/transactions')).rejects.toBe(loggedOut);
  });
});

describe('onRetry', () => {
  const watched = (outcomes: Outcome[], retry: RetryOptions = {}) => {
    const seen: Retry[] = [];
    const onRetry = (retried: Retry) => seen.push(retried);
    return { seen, ...rehearse(outcomes, { onRetry, ...retry }) };
  };
  const list = { method: 'GET', path: '/transactions' };

  it('is told before each repetition which attempt follows, why, and after which delay', async () => {
    const lost = new TypeError('fetch failed');
    const { client, seen } = watched([limited('7'), lost, answer(502), answer(200)], { tries: 9 });
    await client.GET('/transactions', { params: { query: { search: 'jane@' } } });
    expect(seen).toEqual([
      { ...list, attempt: 2, status: 429, waitSeconds: 7 },
      { ...list, attempt: 3, status: 0, waitSeconds: 1 },
      { ...list, attempt: 4, status: 502, waitSeconds: 2 },
    ]);
  });

  it('is not told of another token after a 401, which your function was asked for', async () => {
    const { client, seen } = watched([answer(401), limited('0'), answer(200)]);
    await client.GET('/transactions');
    expect(seen).toEqual([{ ...list, attempt: 2, status: 429, waitSeconds: 0 }]);
  });

  const fault = new Error('my own');
  it.each([
    [
      'that throws',
      () => {
        throw fault;
      },
    ],
    // Nobody else could catch it, and it would end the process.
    ['that is async and throws', () => Promise.reject(fault)],
  ])('%s ends the call, and the request is not repeated', async (_, onRetry) => {
    const { client, bodies } = rehearse([limited('1'), answer(200)], { onRetry });
    await expect(client.GET('/transactions')).rejects.toBe(fault);
    expect(bodies).toHaveLength(1);
  });
});

describe('writes', () => {
  const lost = new TypeError('fetch failed');
  const store = (client: ReturnType<typeof rehearse>['client'], key?: string) =>
    client.POST('/payment-methods', {
      body: card,
      ...(key === undefined ? {} : { params: { header: { 'Idempotency-Key': key } } }),
    });

  it('have a random key each, which a retry repeats; reads have none', async () => {
    const { client, keys, waits } = rehearse([answer(201), lost, answer(503), answer(201), answer(200)]);
    await store(client);
    expect((await store(client)).response.status).toBe(201);
    await client.POST('/gift-cards/balances', { body });
    const [first, ...second] = keys.slice(0, 4);
    expect(first).toMatch(/^[0-9a-f]{32}$/);
    expect(new Set(second).size).toBe(1);
    expect(second[0]).not.toBe(first);
    expect(keys[4]).toBeNull();
    expect(waits).toEqual([0.5, 1]);
  });

  it('keep the key that the caller gives', async () => {
    const { client, keys } = rehearse([answer(500), answer(201)]);
    expect((await store(client, 'mine')).response.status).toBe(201);
    expect(keys).toEqual(['mine', 'mine']);
  });

  it('a balance check is no write: it is not sent again although the caller gives it a key, which the service ignores there', async () => {
    const { client, bodies, keys } = rehearse([answer(201), lost]);
    await store(client);
    const headers = { 'Idempotency-Key': 'mine' };
    await expect(client.POST('/gift-cards/balances', { body, headers })).resolves.toMatchObject({
      error: { code: 'no_response', cause: lost },
    });
    expect(bodies).toHaveLength(2);
    expect(keys[1]).toBeNull();
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
      await vi.waitUntil(() => vi.getTimerCount() === 1, { timeout: 10_000 });
      controller.abort(new Error('left the page'));
      await refused;
      expect(vi.getTimerCount()).toBe(0);
      expect(bodies).toHaveLength(1);
    } finally {
      vi.useRealTimers();
    }
  });

  it.each(['the first token', 'another one after a 401'])(
    'does not wait for a `token` function that gets %s and never settles',
    async (which) => {
      const controller = new AbortController();
      const left = new Error('left the page');
      const never = () => {
        // After the client has begun to wait.
        setImmediate(() => {
          controller.abort(left);
        });
        return new Promise<string>(() => undefined);
      };
      const fetch = vi.fn(() => Promise.resolve(answer(401)));
      const client = createPaymentsClient({
        baseUrl: 'http://service.test',
        token: (refused) => (which === 'the first token' || refused !== undefined ? never() : 'x'),
        fetch,
      });
      await expect(client.GET('/transactions', { signal: controller.signal })).rejects.toBe(left);
      expect(fetch).toHaveBeenCalledTimes(which === 'the first token' ? 0 : 1);
    },
  );

  it('is not mistaken for a lost connection', async () => {
    const controller = new AbortController();
    const sleep = vi.fn(() => Promise.resolve());
    const client = createPaymentsClient({
      baseUrl: 'http://service.test',
      token: 'x',
      retry: { sleep },
      fetch: () => {
        controller.abort();
        return Promise.reject(new TypeError('fetch failed'));
      },
    });
    await expect(client.GET('/transactions', { signal: controller.signal })).rejects.toThrow(/aborted/);
    expect(sleep).not.toHaveBeenCalled();
  });

  it('lets the real sleep end by itself when nobody aborts', async () => {
    vi.useFakeTimers();
    try {
      const waiting = vi.fn();
      const retry = { sleep: undefined, onRetry: waiting };
      const { client, bodies } = rehearse([answer(502), answer(200)], retry);
      const call = client.GET('/transactions');
      // Each look takes a millisecond of the fake time.
      await vi.waitUntil(() => waiting.mock.calls.length === 1 && vi.getTimerCount() === 1, {
        interval: 1,
        timeout: 10_000,
      });
      await vi.advanceTimersByTimeAsync(450);
      expect(bodies).toHaveLength(1);
      await vi.advanceTimersByTimeAsync(50);
      expect((await call).response.status).toBe(200);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('an attempt that takes too long', () => {
  const slow = (timeoutSeconds?: number, fetch = vi.fn(() => new Promise<Response>(() => undefined))) => {
    const retry = { timeoutSeconds, sleep: () => Promise.resolve() };
    return {
      fetch,
      client: createPaymentsClient({ baseUrl: 'http://service.test', token: 'x', retry, fetch }),
    };
  };

  it('counts as a lost connection: a read is sent again, and then says how long it waited', async () => {
    const { client, fetch } = slow(0.01);
    const { error } = await client.GET('/transactions');
    expect(error).toMatchObject({ code: 'no_response', cause: { name: 'TimeoutError' } });
    expect(error?.message).toMatch(/GET \/transactions .*: Nothing after 0\.01 s/);
    expect(fetch).toHaveBeenCalledTimes(3);
    const check = slow(0.01);
    await check.client.POST('/gift-cards/balances', { body });
    expect(check.fetch).toHaveBeenCalledTimes(1);
  });

  it('may also be one whose body does not end', async () => {
    const endless = () => new Response(new ReadableStream({ pull: () => new Promise(() => undefined) }));
    const { client } = slow(
      0.01,
      vi.fn(() => Promise.resolve(endless())),
    );
    expect((await client.GET('/transactions')).error?.code).toBe('no_response');
  });

  it('ends after 30 seconds by default, and its request with it', async () => {
    vi.useFakeTimers();
    try {
      const signals: AbortSignal[] = [];
      const fetch = vi.fn((request?: Request) => {
        if (request) signals.push(request.signal);
        return new Promise<Response>(() => undefined);
      });
      const call = slow(undefined, fetch).client.POST('/gift-cards/balances', { body });
      await vi.advanceTimersByTimeAsync(29_900);
      expect(signals[0]?.aborted).toBe(false);
      await vi.advanceTimersByTimeAsync(200);
      expect(signals[0]?.aborted).toBe(true);
      expect((await call).error?.code).toBe('no_response');
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  it('still ends at once when the caller aborts', async () => {
    const controller = new AbortController();
    const { client, fetch } = slow(
      60,
      vi.fn(() => {
        setImmediate(() => {
          controller.abort('left the page');
        });
        return new Promise<Response>(() => undefined);
      }),
    );
    const call = client.GET('/transactions', { signal: controller.signal });
    await expect(call).rejects.toBe('left the page');
    expect(fetch).toHaveBeenCalledTimes(1);
  });
});

describe('the real service', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService({ config: { webhookWorker: false } });
  });
  afterAll(() => service[Symbol.asyncDispose]());

  it('stores a card once although the answer was lost and the client sent it twice', async () => {
    let lose = false;
    const client = createPaymentsClient({
      baseUrl: service.url,
      token: service.token('*.write'),
      retry: { sleep: () => Promise.resolve() },
      fetch: async (request) => {
        const response = await fetch(request);
        if (!lose) return response;
        lose = false;
        throw new TypeError('fetch failed');
      },
    });
    const store = () =>
      client.POST('/payment-methods', {
        body: card,
      });
    await store();
    const count = async () => {
      const rows = await service.service.database.db.selectFrom('payment_methods').select('id').execute();
      return rows.length;
    };
    const before = await count();
    lose = true;
    const { data, response } = await store();
    expect([data?.status, response.headers.get('Idempotency-Replayed')]).toEqual(['succeeded', 'true']);
    expect(await count()).toBe(before + 1);
  });
});
