// Answers that are set beforehand, for a page under test, which sends no Prefer: by `mock.answer`, and by PUT /__mock/answers.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { sendBytes } from '../../support/call.ts';
import { everyExample, rightRequest, send, startTestMock, table, type TestMock } from './support.ts';

let mock: TestMock;
beforeAll(async () => {
  mock = await startTestMock();
});
afterEach(() => {
  mock.reset();
});
afterAll(() => mock[Symbol.asyncDispose]());

const list = (headers: Record<string, string> = {}) => mock.call('GET', '/transactions', { headers });
const statuses = async (times: number) => {
  const all: number[] = [];
  for (let index = 0; index < times; index += 1) all.push((await list()).status);
  return all;
};
const firstPage = everyExample.find(({ name }) => name === 'first_page')?.value as { items: object[] };

describe('mock.answer', () => {
  it('holds until reset, for its operation only', async () => {
    mock.answer('listTransactions', { code: 500 });
    expect(await statuses(2)).toEqual([500, 500]);
    expect((await mock.call('GET', '/api-key-pairs')).status).toBe(200);
    mock.reset();
    expect(await statuses(1)).toEqual([200]);
  });

  it('with once is for the next request; several wait for one each, before the one that holds', async () => {
    mock.answer('listTransactions', { code: 403 });
    mock.answer('listTransactions', { code: 500, once: true });
    mock.answer('listTransactions', { code: 504, retryAfter: 2, once: true });
    expect(await statuses(3)).toEqual([500, 504, 403]);
  });

  it('of 20 requests at once, one gets what is for the next', async () => {
    mock.answer('listTransactions', { code: 500, once: true });
    const all = await Promise.all(Array.from({ length: 20 }, () => list()));
    expect(all.filter(({ status }) => status === 500)).toHaveLength(1);
  });

  it('shows an example, a body, made-up values, and each declared status', async () => {
    mock.answer('listTransactions', { example: 'none_found' });
    const { body, headers } = await list();
    expect(body).toMatchObject({ items: [] });
    expect(headers.get('preference-applied')).toBeNull();
    const own = { ...firstPage, limit: 7 };
    mock.answer('listTransactions', { body: own });
    expect((await list()).body).toEqual(own);
    mock.answer('listTransactions', { dynamic: true, seed: 7 });
    const { body: madeUp } = await list();
    mock.answer('listTransactions', { dynamic: true });
    const [one, other] = [await list(), await list()];
    expect(one.body).not.toEqual(other.body);
    mock.reset();
    expect((await list({ Prefer: 'dynamic=true, seed=7' })).body).toEqual(madeUp);
    for (const [id, operation] of table)
      for (const code of operation.statuses) {
        mock.answer(id, { code, once: true });
        const { method, path, ...rest } = rightRequest(id);
        expect((await mock.call(method, path, rest)).status).toBe(code);
      }
  });

  it('gives way to Prefer, and waits for the next request then; a delay alone leaves it', async () => {
    mock.answer('listTransactions', { code: 500, once: true });
    expect((await list({ Prefer: 'code=403' })).status).toBe(403);
    expect((await list({ Prefer: 'delay=1' })).status).toBe(500);
  });

  it('on a --dynamic mock means the same as Prefer', async () => {
    await using one = await startTestMock({ dynamic: { seed: 7 } });
    const get = async (prefer?: string) => {
      const headers: Record<string, string> = prefer === undefined ? {} : { Prefer: prefer };
      return (await one.call('GET', '/transactions', { headers })).body as unknown;
    };
    const set = (answer: object) => {
      one.answer('listTransactions', answer);
      return get();
    };
    for (const answer of [{ dynamic: false }, { code: 200 }, { seed: 8 }, { code: 403 }, { delay: 1 }]) {
      const [[name, value] = []] = Object.entries(answer);
      expect(await set(answer), name).toEqual(await get(`${name}=${value}`));
    }
    const own = { ...firstPage, limit: 7 };
    expect(await set({ code: 200, body: own })).toEqual(own);
  });

  it('comes after token, account and request were judged', async () => {
    mock.answer('listTransactions', { code: 200, once: true });
    expect((await mock.call('GET', '/transactions', { token: null })).status).toBe(401);
    expect((await list({ 'X-Service-Merchant-Account-ID': 'x' })).status).toBe(404);
    expect((await mock.call('GET', '/transactions?limit=0')).status).toBe(400);
  });

  it('is later with delay: others that were asked for later arrive first', async () => {
    const arrived: string[] = [];
    const ask = async (path: string) => {
      await mock.call('GET', path);
      arrived.push(path);
    };
    mock.answer('listTransactions', { delay: 1_500 });
    await Promise.all([ask('/transactions'), ask('/api-key-pairs')]);
    expect(arrived).toEqual(['/api-key-pairs', '/transactions']);
  });

  it('is not kept for a repeated Idempotency-Key', async () => {
    const { method, path, ...rest } = rightRequest('createPaymentMethod');
    const headers = { 'Idempotency-Key': crypto.randomUUID() };
    mock.answer('createPaymentMethod', { code: 504, once: true });
    const store = async () => (await mock.call(method, path, { ...rest, headers })).status;
    expect([await store(), await store()]).toEqual([504, 201]);
  });

  it.each<[name: string, operation: string, answer: unknown, says: RegExp]>([
    ['operation', 'listUnicorns', { code: 500 }, /asks for listUnicorns, .*choose listApiKeyPairs \| /],
    ['status', 'listTransactions', { code: 418 }, /body \/code asks for code=418.*choose code=200 \| /],
    ['example', 'listTransactions', { example: 'x' }, /body \/example .*example=first_page/],
    ['example of a status', 'listTransactions', { code: 200, example: 'forbidden' }, /first_page/],
    ['delay', 'listTransactions', { delay: 30_001 }, /body \/delay .*0 to 30000/],
    ['delay', 'listTransactions', { delay: 'soon' }, /body \/delay .*0 to 30000/],
    ['seed', 'listTransactions', { dynamic: true, seed: 0.5 }, /body \/seed .*0 to 999999999/],
    ['time', 'listTransactions', { code: 500, retryAfter: 1 }, /body \/retryAfter .*code=504/],
    ['once', 'listTransactions', { once: 'yes' }, /body \/once .*choose true \| false/],
    ['property', 'listTransactions', { cod: 500 }, /body \/cod .*choose code \| example/],
    ['answer', 'listTransactions', [], /must be an object with some of code, example/],
    ['body', 'listTransactions', { body: { items: [] } }, /body \/body breaks the contract: .*'limit'/],
    ['body of an error', 'listTransactions', { code: 500, body: firstPage }, /breaks the contract/],
    ['body beside an example', 'listTransactions', { example: 'first_page', body: {} }, /cannot be combined/],
  ])('refuses an unknown %s, with the choices', (_name, operation, answer, says) => {
    expect(() => {
      mock.answer(operation, answer);
    }).toThrow(says);
  });

  it('waits for at most 100 requests', () => {
    for (let index = 0; index < 100; index += 1) mock.answer('listTransactions', { once: true });
    expect(() => {
      mock.answer('listTransactions', { once: true });
    }).toThrow(/reset first/);
  });
});

describe('requests()', () => {
  it('has the headers as they were sent, without secrets', async () => {
    const before = mock.requests().length;
    const { method, path, ...rest } = rightRequest('createPaymentMethod');
    const type = 'application/json; charset=utf-8';
    const masked = { cookie: 'a=b', 'x-api-key': 'c', 'x-session': 'd', 'x-jwt': 'e' };
    const headers = { 'Idempotency-Key': 'a-key', 'Content-Type': type, ...masked };
    await mock.call(method, path, { ...rest, headers, token: 'very-secret' });
    await expect.poll(() => mock.requests().length).toBe(before + 1);
    expect(mock.requests().at(-1)?.headers).toMatchObject({
      ...{ 'idempotency-key': 'a-key', 'content-type': type, authorization: '********' },
      ...Object.fromEntries(Object.keys(masked).map((name) => [name, '********'])),
    });
    expect(JSON.stringify(mock.requests())).not.toContain('very-secret');
  });
});

describe('/__mock/answers', () => {
  const control = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    send(mock.url, method, `/__mock/answers${path}`, {
      token: null,
      headers,
      ...(body !== undefined && { body }),
    });
  const set = (headers: Record<string, string> = {}) =>
    control('PUT', '/listTransactions', { code: 500 }, headers);

  it('sets answers, shows them with the choices, and resets them', async () => {
    const answers = [{ operation: 'listTransactions', answer: 'code=500' }];
    expect(await set()).toMatchObject({ status: 200, body: { answers } });
    expect(await statuses(1)).toEqual([500]);
    const { body } = await control('GET', '');
    expect(body).toMatchObject({ answers });
    expect((body as { operations: object[] }).operations).toContainEqual(
      expect.objectContaining({
        id: 'listTransactions',
        statuses: [200, 400, 401, 403, 404, 405, 422, 500, 504],
      }),
    );
    expect(await control('DELETE', '')).toMatchObject({ status: 200, body: { answers: [] } });
    expect(await statuses(1)).toEqual([200]);
  });

  it('the log says what was set, and what was answered so', async () => {
    mock.lines.length = 0;
    await set();
    await list();
    await expect.poll(() => mock.lines).toHaveLength(2);
    expect(mock.lines[0]).toMatch(
      /^PUT \/__mock\/answers\/listTransactions → 200 \(set for listTransactions: code=500\)/,
    );
    expect(mock.lines[1]).toMatch(/→ 500 \(set for listTransactions: code=500\)/);
  });

  it.each<[name: string, path: string, body: unknown, says: RegExp]>([
    ['operation', '/listUnicorns', { code: 500 }, /choose listApiKeyPairs/],
    ['status', '/listTransactions', { code: 418 }, /choose code=200/],
    ['body that is too large', '/listTransactions', { body: 'x'.repeat(1_000_001) }, /1000000 bytes or less/],
    ['body that is none', '/listTransactions', undefined, /must be an object/],
  ])('refuses a wrong %s with 400', async (_name, path, body, says) => {
    const answer = await control('PUT', path, body);
    expect(answer).toMatchObject({ status: 400, body: { type: 'error', code: 'bad_request' } });
    expect((answer.body as { details: { message: string }[] }).details[0]?.message).toMatch(says);
  });

  it.each<[name: string, headers: () => Record<string, string>, status: number]>([
    ['a program', () => ({}), 200],
    ['its own page', () => ({ Origin: mock.url }), 200],
    ['a page of another origin', () => ({ Origin: 'http://127.0.0.1:1' }), 404],
    ['a page without one', () => ({ Origin: 'null' }), 404],
    ['another site', () => ({ 'Sec-Fetch-Site': 'same-site' }), 404],
    ['a proxy', () => ({ 'X-Forwarded-For': '1.1.1.1' }), 404],
    ['a form', () => ({ 'Content-Type': 'text/plain' }), 400],
  ])('%s', async (_name, headers, status) => {
    const answer = await set(headers());
    expect(answer.status).toBe(status);
    expect([...answer.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
    expect(await statuses(1)).toEqual([status === 200 ? 500 : 200]);
  });

  it('is there only under a name of this machine', async () => {
    const { port } = new URL(mock.url);
    const put = (host: string) =>
      sendBytes(
        mock.url,
        `PUT /__mock/answers/listTransactions HTTP/1.1\r\nHost: ${host}:${port}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: 12\r\n\r\n{"code":500}`,
      );
    expect(await put('evil.example')).toMatch(/^HTTP\/1.1 404 /);
    expect(await statuses(1)).toEqual([200]);
    expect(await put('localhost')).toMatch(/^HTTP\/1.1 200 /);
    expect(await statuses(1)).toEqual([500]);
  });

  it('is not there if other machines can reach the mock', async () => {
    await using open = await startTestMock({ host: '0.0.0.0' });
    const url = open.url.replace('0.0.0.0', '127.0.0.1');
    const options = { token: null, body: { code: 500 } };
    expect((await send(url, 'PUT', '/__mock/answers/listTransactions', options)).status).toBe(404);
    expect((await send(url, 'GET', '/transactions')).status).toBe(200);
  });

  it('has no CORS headers for a preflight either', async () => {
    const headers = { Origin: 'https://evil.example', 'Access-Control-Request-Method': 'PUT' };
    const answer = await control('OPTIONS', '/listTransactions', undefined, headers);
    expect(answer.status).toBe(404);
    expect(answer.headers.get('access-control-allow-origin')).toBeNull();
  });
});
