// Lists: the contract's examples as one small set with paging, filters and limits.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { everyExample, startTestMock, type TestMock } from './support.ts';

let mock: TestMock;
beforeAll(async () => {
  mock = await startTestMock();
});
afterAll(() => mock[Symbol.asyncDispose]());

interface Page {
  items: { id: string; [name: string]: unknown }[];
  limit: number;
  next_cursor: string | null;
  previous_cursor: string | null;
}

const page = async (path: string, headers: Record<string, string> = {}): Promise<Page> => {
  const { status, body } = await mock.call('GET', path, { headers });
  expect(status).toBe(200);
  return body;
};
const ids = ({ items }: Page) => items.map(({ id }) => id);
const withCursor = (path: string, cursor: string | null) =>
  `${path}${path.includes('?') ? '&' : '?'}cursor=${encodeURIComponent(cursor ?? '')}`;

describe.each(['/transactions', '/api-key-pairs', '/webhook-subscriptions'])('%s', (list) => {
  it('has all items of the examples, newest first, on one page if they fit', async () => {
    const all = await page(list);
    const shown = everyExample.flatMap(({ status, value }) =>
      status === 200 ? ((value as Partial<Page>).items ?? []) : [],
    );
    expect(all).toMatchObject({ limit: 20, next_cursor: null, previous_cursor: null });
    expect(all.items.length).toBeGreaterThan(1);
    expect(shown.map(({ id }) => id)).toEqual(expect.arrayContaining(ids(all)));
    const times = all.items.map(({ created_at }) => String(created_at));
    expect(times).toEqual([...times].sort().reverse());
  });
});

describe('a cursor', () => {
  it('is bound to list, filters and merchant account, but not to the size of the page', async () => {
    const { next_cursor: cursor } = await page(
      '/transactions?limit=1&status=processing&status=capture_succeeded',
    );
    const same = withCursor('/transactions?limit=5&status=capture_succeeded&status=processing', cursor);
    expect((await page(same)).items.length).toBeGreaterThan(0);
    const other = { 'X-Service-Merchant-Account-ID': 'marketplace' };
    expect((await mock.call('GET', same, { headers: other })).status).toBe(422);
    for (const path of [
      withCursor('/transactions?limit=5', cursor),
      withCursor('/api-key-pairs', (await page('/transactions?limit=1')).next_cursor),
      `${same}A`,
    ])
      expect([path, (await mock.call('GET', path)).status]).toEqual([path, 422]);
  });

  it("from the contract's examples can be followed", async () => {
    const named = (name: string) =>
      everyExample.find((one) => one.id === 'listTransactions' && one.name === name)?.value as Page;
    const [first, last] = [named('first_page'), named('last_page')];
    const next = await page(withCursor('/transactions?limit=9', first.next_cursor));
    expect(next.items).toEqual(last.items);
    const previous = await page(withCursor('/transactions?limit=9', last.previous_cursor));
    expect(previous.items).toEqual(first.items);
  });
});

it('every account lists the same items, with its own ID', async () => {
  const { items } = await page('/transactions', { 'X-Service-Merchant-Account-ID': 'marketplace' });
  expect(new Set(items.map(({ merchant_account_id }) => merchant_account_id))).toEqual(
    new Set(['marketplace']),
  );
});
