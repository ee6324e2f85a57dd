// Prefer selects every answer that the contract declares; for an unknown one, the error lists those that exist.
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OperationId } from '../../../generated/operations.ts';
import { runs } from '../../support/random.ts';
import type { TestService } from '../../support/service.ts';
import {
  everyExample,
  rightRequest,
  startBoth,
  startTestMock,
  table,
  type CallOptions,
  type TestMock,
} from './support.ts';

let mock: TestMock;
let service: TestService;
let stop: () => Promise<void>;
beforeAll(async () => {
  ({ mock, service, stop } = await startBoth());
});
afterAll(() => stop());

const ask = (id: OperationId, prefer: string, options: CallOptions = {}) => {
  const { method, path, ...rest } = rightRequest(id);
  return mock.call(method, path, { ...rest, ...options, headers: { Prefer: prefer } });
};

const everyStatus = table.flatMap(([id, { statuses }]) => statuses.map((status) => ({ id, status })));

describe('Prefer: example', () => {
  it('the contract has examples, also for reserved statuses', () => {
    expect(everyExample.length).toBeGreaterThan(60);
    expect(everyExample.filter(({ id }) => id === 'listApiKeyPairs').map(({ status }) => status)).toContain(
      502,
    );
  });

  it.each(everyExample)(
    '$id $status $name, as it stands in the contract',
    async ({ id, status, name, value }) => {
      const answer = await ask(id, `code=${status}, example=${name}`);
      expect(answer.status).toBe(status);
      expect(answer.body).toEqual(value);
      expect(answer.headers.get('preference-applied')).toBe(`code=${status}, example=${name}`);
    },
  );

  it('needs no code: the name alone finds the status', async () => {
    expect((await ask('createPaymentMethod', 'example=duplicate')).status).toBe(409);
    expect((await ask('createPaymentMethod', 'example="expired_card"')).body).toMatchObject({
      status: 'failed',
    });
  });
});

describe('Prefer: code', () => {
  it.each(everyStatus)('$id $status', async ({ id, status }) => {
    const shown = await ask(id, `code=${status}`);
    expect(shown.status).toBe(status);
    // As the service does.
    if (status === 429 || status === 504) expect(shown.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    if (status >= 400 && status !== 422) expect(shown.body).toMatchObject({ type: 'error', status });
  });

  it.each([429, 504])('a %i may be given another time to try again', async (code) => {
    const prefer = `code=${code}, retry-after=2`;
    const { status, headers } = await ask('checkGiftCardBalances', prefer);
    expect([status, headers.get('retry-after')]).toEqual([code, '2']);
    expect(headers.get('preference-applied')).toBe(prefer);
  });

  it('a 405 names the methods that the path really has', async () => {
    const { headers } = await ask('listWebhookSubscriptions', 'code=405');
    expect(headers.get('allow')?.split(', ').sort()).toEqual(['GET', 'POST']);
  });
});

describe('Prefer: delay', () => {
  /** What arrives first. */
  const order = async (...prefers: string[]) => {
    const arrived: string[] = [];
    const asking = prefers.map(async (prefer) => {
      const { status, headers } = await ask('createPaymentMethod', prefer);
      expect(headers.get('preference-applied')).toBe(prefer);
      arrived.push(`${status}, ${prefer}`);
    });
    await Promise.all(asking);
    return arrived;
  };

  it('delays one answer: others that were asked for later arrive first', async () => {
    expect(await order('delay=1500', 'code=409, delay=1000', 'delay=0')).toEqual([
      '201, delay=0',
      '409, code=409, delay=1000',
      '201, delay=1500',
    ]);
  });

  it('does not choose the answer: that to a repeated Idempotency-Key comes again', async () => {
    const { method, path, ...rest } = rightRequest('createPaymentMethod');
    const headers = { 'Idempotency-Key': crypto.randomUUID(), Prefer: 'delay=1' };
    const answers = [1, 2].map(() => mock.call(method, path, { ...rest, headers }));
    const [first, second] = await Promise.all(answers);
    expect(second?.body).toEqual(first?.body);
  });

  it.each(['delay=30001', 'delay=soon', 'delay=-1', 'delay=1.5', 'delay='])(
    '%s is refused',
    async (prefer) => {
      const { status, body } = await ask('listTransactions', prefer);
      expect(status).toBe(400);
      expect(body).toMatchObject({
        details: [
          {
            ...{ location: 'header', pointer: '/prefer', type: 'value_error.prefer' },
            message: `asks for ${prefer}, which does not exist; choose delay=MILLISECONDS, 0 to 30000`,
          },
        ],
      });
    },
  );
});

describe('Prefer: dynamic', () => {
  const successes = table.map(([id]) => id);
  const text = async (id: OperationId, prefer: string) => JSON.stringify((await ask(id, prefer)).body);

  it('is valid, whatever the seed, and is what the contract has of success', async () => {
    // Calls are judged by the contract: see support.ts.
    const seeds = fc.sample(fc.integer({ min: 0, max: 999_999_999 }), runs(100));
    for (const id of successes)
      for (const at of seeds) {
        const prefer = `dynamic=true, seed=${at}`;
        const { status, headers } = await ask(id, prefer);
        expect([status < 300, headers.get('preference-applied')]).toEqual([true, prefer]);
      }
  });

  it('is another one each time, whatever was asked for before; the log has the seed to see it again', async () => {
    const seeded = await text('listTransactions', 'dynamic=true, seed=7');
    mock.lines.length = 0;
    const next = await text('listTransactions', 'dynamic=true');
    await expect.poll(() => mock.lines.join()).toMatch(/200 \(Prefer: dynamic=true; again with .*seed=\d+\)/);
    const [again = ''] = /dynamic=true, seed=\d+/.exec(mock.lines.join()) ?? [];
    expect(await text('listTransactions', again)).toBe(next);
    await text('listTransactions', 'dynamic=true, seed=7');
    expect(new Set([seeded, next, await text('listTransactions', 'dynamic=true')]).size).toBe(3);
  });

  it('repeats with a seed, also among others at once', async () => {
    const seeds = Array.from({ length: 50 }, (_, index) => index % 10);
    const seeded = (id: OperationId, at: number) => text(id, `dynamic=true, seed=${at}`);
    for (const id of ['listTransactions', 'createPaymentMethod'] as const) {
      // Every third one has no seed.
      const answers = await Promise.all(
        seeds.map((at, index) => (index % 3 === 2 ? text(id, 'dynamic=true') : seeded(id, at))),
      );
      const again = await Promise.all(Array.from({ length: 10 }, (_, at) => seeded(id, at)));
      for (const [index, answer] of answers.entries())
        if (index % 3 < 2) expect(answer).toBe(again[seeds[index] ?? 0]);
    }
  });

  it('is an error with a code, and an example stays as it is', async () => {
    const { status, body } = await ask('listTransactions', 'code=404, dynamic=true, seed=7');
    expect([status, body]).toEqual([404, expect.objectContaining({ type: 'error' })]);
    const { headers, body: none } = await ask('listTransactions', 'dynamic=true, example=none_found');
    expect(headers.get('preference-applied')).toBe('example=none_found');
    expect(none).toMatchObject({ items: [] });
  });

  it('--dynamic is for callers that do not ask, with --seed always the same', async () => {
    await using one = await startTestMock({ dynamic: { seed: 7 } });
    const get = async (prefer?: string) => {
      const headers: Record<string, string> = prefer === undefined ? {} : { Prefer: prefer };
      return JSON.stringify((await one.call('GET', '/transactions', { headers })).body);
    };
    const seeded = await text('listTransactions', 'dynamic=true, seed=7');
    expect([await get(), await get('delay=1'), await get('dynamic=true')]).toEqual([seeded, seeded, seeded]);
    expect(await get('seed=8')).toBe(await text('listTransactions', 'dynamic=true, seed=8'));
    expect(JSON.parse(await get('dynamic=false'))).toMatchObject({ limit: 20, next_cursor: null });
    expect(await get('example=none_found')).toContain('"items":[]');
  });

  it('--dynamic makes an error up only if it is asked to, because its code may contradict the status', async () => {
    await using one = await startTestMock({ dynamic: { seed: 7 } });
    const get = async (from: TestMock, prefer: string) =>
      (await from.call('GET', '/transactions', { headers: { Prefer: prefer } })).body as unknown;
    expect(await get(one, 'code=403')).toEqual(await get(mock, 'code=403'));
    const madeUp = 'code=403, dynamic=true, seed=7';
    expect(await get(one, 'code=403, dynamic=true')).toEqual(await get(mock, madeUp));
  });
});

describe("Prism's forms for a browser", () => {
  const get = (query: string, headers = {}) => mock.call('GET', `/transactions?${query}`, { headers });

  it('count as the header does, and are no part of the query', async () => {
    const { status, headers } = await get('__code=404');
    expect([status, headers.get('preference-applied')]).toEqual([404, 'code=404']);
    expect((await get('limit=1&__example=none_found')).body).toMatchObject({ items: [] });
    const prefer = { Prefer: 'dynamic=true, seed=7' };
    const { body } = await mock.call('GET', '/transactions', { headers: prefer });
    expect((await get('__dynamic=true&__seed=7')).body).toEqual(body);
    expect((await get('__code=404&limit=0')).status).toBe(400);
    expect((await get('__dynamic=false&limit=1')).body).toMatchObject({ limit: 1 });
  });

  it('give way to the header; others are unknown parameters', async () => {
    expect((await get('__code=404', { Prefer: 'code=403' })).status).toBe(403);
    expect((await get('__unicorn=1')).status).toBe(400);
    expect((await get('__code=%zz')).body).toMatchObject({
      details: [{ location: 'query', pointer: '/__code', type: 'value_error.prefer' }],
    });
  });

  it('are unknown to the service', async () => {
    const { status, body } = await service.call('GET', '/transactions?__code=404', {
      token: service.token('*.read'),
    });
    expect([status, body]).toMatchObject([
      400,
      { details: [{ pointer: '/__code', type: 'value_error.extra' }] },
    ]);
  });
});

describe('an unknown preference', () => {
  /** Its one violation: what was asked for, and what exists. */
  const violation = ({ status, body }: { status: number; body: unknown }) => {
    expect(status).toBe(400);
    const { details } = body as { details: { location: string; pointer: string; message: string }[] };
    expect(details).toEqual([
      expect.objectContaining({ location: 'header', pointer: '/prefer', type: 'value_error.prefer' }),
    ]);
    const [asked = '', choices = ''] = (details[0]?.message ?? '').split(', which does not exist; choose ');
    return { asked, choices: choices.split(' | ') };
  };

  it('for an unknown example, the error lists the existing ones', async () => {
    const existing = everyExample.filter(({ id }) => id === 'createPaymentMethod');
    expect(violation(await ask('createPaymentMethod', 'example=unicorn'))).toEqual({
      asked: 'asks for example=unicorn',
      choices: existing.map(({ status, name }) => `code=${status}, example=${name}`),
    });
  });

  it('for an undeclared code, the error lists the declared ones', async () => {
    expect(violation(await ask('listTransactions', 'code=418')).choices).toEqual(
      [200, 400, 401, 403, 404, 405, 422, 500, 504].map((status) => `code=${status}`),
    );
  });

  it('for an example of another status, the error lists those of this status', async () => {
    const answer = await ask('listTransactions', 'code=200, example=foreign_cursor');
    expect(violation(answer).choices).toEqual(
      ['first_page', 'last_page', 'none_found'].map((name) => `code=200, example=${name}`),
    );
  });

  it.each([
    'seed=7',
    'dynamic=true, seed=',
    'dynamic=true, seed=-1',
    'dynamic=true, seed=1e3',
    'dynamic=false, seed=7',
  ])('for a bad seed, %s, the error says which there are', async (prefer) => {
    const { choices } = violation(await ask('listTransactions', prefer));
    expect(choices).toEqual(['dynamic=true, seed=NUMBER, 0 to 999999999']);
  });

  it.each([
    ...['code=', 'code=2e2', 'example=', 'retry-after=2', 'dynamic=yes', 'code=418, dynamic=true'],
    ...['code=200, retry-after=2', 'code=429, retry-after=soon'],
  ])('%s is refused', async (prefer) => {
    expect((await ask('checkGiftCardBalances', prefer)).status).toBe(400);
  });

  it.each(['return=minimal, respond-async', 'cod=401', '401'])(
    '%s is ignored, as RFC 7240 requires, and the log says so',
    async (prefer) => {
      const before = mock.lines.length;
      expect((await ask('listTransactions', prefer)).status).toBe(200);
      expect(mock.lines.slice(before).join()).toContain(
        'Prefer ignored, it has no code, example, dynamic or delay',
      );
    },
  );

  it('the log is silent about it without the header', async () => {
    const before = mock.lines.length;
    const { method, path, ...rest } = rightRequest('listTransactions');
    await mock.call(method, path, rest);
    expect(mock.lines.slice(before).join()).toMatch(/200 \((?!.*Prefer)/);
  });
});

describe('an invalid request', () => {
  it('is refused whatever it prefers', async () => {
    expect((await ask('createPaymentMethod', 'code=201', { body: {} })).status).toBe(400);
    expect((await ask('createPaymentMethod', 'code=201', { token: null })).status).toBe(401);
  });
});
