// Pages through lists of the real service in both directions and compares the items with the database.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPaymentsClient, PaymentsError, unwrap, type PaymentsClient } from '../../../client/index.ts';
import { createAccount, insertTransactions } from '../../support/records.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { transaction } from '../../support/transactions.ts';

const start = Date.parse('2026-11-15T10:30:00.000Z');

let service: TestService;
let client: PaymentsClient;
/** Newest first. */
let ids: string[];

const all = async <T>(walk: AsyncIterable<T>): Promise<T[]> => {
  const seen: T[] = [];
  for await (const one of walk) seen.push(one);
  return seen;
};
const idsOf = async (walk: AsyncIterable<{ id: string }>) => (await all(walk)).map(({ id }) => id);

beforeAll(async () => {
  service = await startTestService();
  await createAccount(service.service.database.db, { id: 'shop', display_name: 'Shop' });
  const rows = Array.from({ length: 23 }, (_, number) =>
    transaction({
      merchant_account_id: 'shop',
      created_at: new Date(start + number * 1000).toISOString(),
      currency: number % 2 === 0 ? 'EUR' : 'USD',
    }),
  );
  await insertTransactions(service.service.database.db, rows);
  ids = rows.map(({ id }) => id).reverse();
  client = createPaymentsClient({
    baseUrl: service.url,
    token: service.token('*.read'),
    merchantAccount: 'shop',
  });
});
afterAll(() => service[Symbol.asyncDispose]());

describe('paginate', () => {
  it.each([1, 5, 23, 24, 100])('yields every item once, newest first, %i a page', async (limit) => {
    expect(await idsOf(client.paginate('/transactions', { params: { query: { limit } } }))).toEqual(ids);
  });

  it('keeps the filters from page to page', async () => {
    const query = { limit: 4, currency: ['EUR'] };
    const walk = client.paginate('/transactions', { params: { query } });
    expect(await idsOf(walk)).toEqual(ids.filter((_, index) => index % 2 === 0));
  });

  it('goes on from a cursor', async () => {
    const page = unwrap(await client.GET('/transactions', { params: { query: { limit: 10 } } }));
    const query = { limit: 3, cursor: page.next_cursor };
    expect(await idsOf(client.paginate('/transactions', { params: { query } }))).toEqual(ids.slice(10));
  });

  it('goes back from a cursor, oldest first, so that items never jump', async () => {
    const pages = await all(client.pages('/transactions', { params: { query: { limit: 5 } } }));
    const cursor = pages.at(-1)?.previous_cursor ?? 'none';
    const query = { limit: 4, cursor };
    const walk = client.paginate('/transactions', { direction: 'previous', params: { query } });
    expect(await idsOf(walk)).toEqual(ids.slice(0, 20).reverse());
  });

  it('asks for a page only when it is needed', async () => {
    let calls = 0;
    const counting = createPaymentsClient({
      baseUrl: service.url,
      token: service.token('*.read'),
      fetch: (request) => ((calls += 1), fetch(request)),
    });
    const seen: string[] = [];
    for await (const { id } of counting.paginate('/transactions', { params: { query: { limit: 10 } } }))
      if (seen.push(id) === 10) break;
    expect(seen).toHaveLength(10);
    expect(calls).toBe(1);
  });

  it('refuses the way back without a cursor', async () => {
    const walk = client.paginate('/transactions', { direction: 'previous', params: { query: {} } } as never);
    await expect(walk.next()).rejects.toThrow(TypeError);
  });
});

describe('pages', () => {
  it('yields pages as the service answers them, newest first, both ways', async () => {
    const onwards = await all(client.pages('/transactions', { params: { query: { limit: 10 } } }));
    expect(onwards.map(({ items }) => items.length)).toEqual([10, 10, 3]);
    expect(onwards.flatMap(({ items }) => items.map(({ id }) => id))).toEqual(ids);
    const query = { limit: 10, cursor: onwards[2]?.previous_cursor ?? 'none' };
    const back = await all(client.pages('/transactions', { direction: 'previous', params: { query } }));
    expect(back.map(({ items }) => items)).toEqual([onwards[1]?.items, onwards[0]?.items]);
  });
});

it.each(['next', 'previous'] as const)(
  'a cursor that was there before ends the walk, %s',
  async (direction) => {
    // A cache on the way that returns two pages in turns.
    let calls = 0;
    const cached = createPaymentsClient({
      baseUrl: service.url,
      token: 'x',
      fetch: () => {
        calls += 1;
        const cursor = calls % 2 === 0 ? 'even' : 'odd';
        const body = { items: [{ id: cursor }], limit: 1, next_cursor: cursor, previous_cursor: cursor };
        return Promise.resolve(Response.json(body));
      },
    });
    const seen: string[] = [];
    const walk = async () => {
      const options = { direction, params: { query: { cursor: 'first' } } } as { direction: 'previous' };
      for await (const { id } of cached.paginate('/transactions', options as never)) seen.push(id);
    };
    const error: unknown = await walk().catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(PaymentsError);
    expect(error).toMatchObject({ code: 'unknown', status: 200 });
    expect((error as PaymentsError).message).toContain(
      'a page of /transactions has a cursor that was there before',
    );
    expect(seen).toEqual(['odd', 'even', 'odd']);
  },
);

describe('an abort signal', () => {
  it('stops a walk between two items of a page', async () => {
    const controller = new AbortController();
    const seen: string[] = [];
    const walk = async () => {
      for await (const { id } of client.paginate('/transactions', { signal: controller.signal })) {
        if (seen.push(id) === 3) controller.abort(new Error('enough'));
      }
    };
    await expect(walk()).rejects.toThrow('enough');
    expect(seen).toEqual(ids.slice(0, 3));
  });

  it('stops a walk before its first call', async () => {
    const walk = client.paginate('/transactions', { signal: AbortSignal.abort() });
    await expect(walk.next()).rejects.toMatchObject({ name: 'AbortError' });
  });

  it('may be used for many pages without a warning of leaks', async () => {
    const warnings: Error[] = [];
    const note = (warning: Error) => warnings.push(warning);
    process.on('warning', note);
    let calls = 0;
    const long = createPaymentsClient({
      baseUrl: service.url,
      token: 'x',
      fetch: () => {
        calls += 1;
        const next_cursor = calls < 100 ? String(calls) : null;
        return Promise.resolve(Response.json({ items: [{}], limit: 1, next_cursor, previous_cursor: null }));
      },
    });
    const { signal } = new AbortController();
    expect(await all(long.paginate('/transactions', { signal }))).toHaveLength(100);
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', note);
    expect(warnings).toEqual([]);
  });
});
