// Prefer selects every answer that the contract declares; for an unknown one, the error lists those that exist.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OperationId } from '../../../generated/operations.ts';
import {
  everyExample,
  rightRequest,
  startTestMock,
  table,
  type CallOptions,
  type TestMock,
} from './support.ts';

let mock: TestMock;
beforeAll(async () => {
  mock = await startTestMock();
});
afterAll(() => mock[Symbol.asyncDispose]());

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

  it('Prism would make up values for dynamic=true; here the error lists the examples', async () => {
    const { asked, choices } = violation(await ask('createPaymentMethod', 'dynamic=true'));
    expect(asked).toBe('asks for dynamic=true');
    expect(choices).toContain('code=201, example=visa_succeeded');
    expect((await ask('createPaymentMethod', 'dynamic=false')).status).toBe(201);
  });

  it.each([
    ...['code=', 'code=2e2', 'example=', 'retry-after=2', 'code=200, dynamic=true'],
    ...['code=200, retry-after=2', 'code=429, retry-after=soon'],
  ])('%s is refused', async (prefer) => {
    expect((await ask('checkGiftCardBalances', prefer)).status).toBe(400);
  });

  it.each(['return=minimal, respond-async', 'cod=401', '401'])(
    '%s is ignored, as RFC 7240 requires, and the log says so',
    async (prefer) => {
      const before = mock.lines.length;
      expect((await ask('listTransactions', prefer)).status).toBe(200);
      expect(mock.lines.slice(before).join()).toContain('Prefer ignored, it has no code, example or delay');
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
