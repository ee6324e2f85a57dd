import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { compileContract } from '../../../server/kit/contract/compile.ts';
import { loadContract, type Parameter } from '../../../server/kit/contract/load.ts';
import type { NewTransaction, Transaction } from '../../../server/resources/transactions/queries.ts';
import { transactionMoves } from '../../../server/resources/transactions/rules.ts';
import { describeOperation } from '../../support/operation.ts';
import { createAccount, insertTransactions } from '../../support/records.ts';
import { startTestService } from '../../support/service.ts';
import { buyer, transaction } from '../../support/transactions.ts';

interface Page {
  items: Transaction[];
  limit: number;
  next_cursor: string | null;
  previous_cursor: string | null;
}

const contract = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../../generated/openapi.json'), 'utf8'),
) as {
  components: { examples: Record<string, { value: { items: NewTransaction[]; detail: unknown[] } }> };
};
const examplePage = contract.components.examples.TransactionsFirstPage?.value.items ?? [];
const scope = 'transactions.read';
const service = {
  ...{ type: 'payment-service' as const, id: randomUUID(), display_name: null, method: null },
  payment_service_definition_id: null,
};
const minute = (value: number) => `2026-11-15T10:${String(value).padStart(2, '0')}:00.000Z`;

describeOperation('listTransactions', {}, (frame) => {
  // Separate accounts, so that the sample data does not matter.
  const accounts = ['paged', 'other', 'shown', 'several', 'empty', 'metadata'];
  // One token for all calls, because it is verified only once.
  let reader = '';
  const ask = (query: string, account = 'paged', token = reader) =>
    frame.call({ query, token, headers: { 'X-Service-Merchant-Account-ID': account } });
  const page = async (query: string, account?: string, token?: string) => {
    const { status, body, text } = await ask(query, account, token);
    expect(status, text).toBe(200);
    return body as Page;
  };
  const ids = async (query: string, account?: string, token?: string) =>
    (await page(query, account, token)).items.map(({ id }) => id);
  const insert = async (...rows: NewTransaction[]) => {
    await insertTransactions(frame.service.service.database.db, rows);
  };
  const paged = Array.from({ length: 7 }, (_, index) =>
    transaction({
      merchant_account_id: 'paged',
      created_at: minute(index),
      metadata: { turn: String(index % 2) },
      payment_service: service,
    }),
  ).reverse();

  const withMetadata = Object.entries({
    both: { a: '1', b: '2' },
    a: { a: '1' },
    proto: JSON.parse('{"__proto__":"1"}') as Record<string, string>,
    none: undefined,
  }).map(([external_identifier, metadata]) =>
    transaction({ merchant_account_id: 'metadata', external_identifier, metadata }),
  );

  beforeAll(async () => {
    reader = frame.service.token(scope);
    for (const id of accounts)
      await createAccount(frame.service.service.database.db, { id, display_name: id });
    await insert(...paged, ...withMetadata, transaction({ merchant_account_id: 'other' }));
  });

  describe('200 lists transactions', () => {
    it('shows the whole resource and nothing else, as it was stored', async () => {
      expect(examplePage.length).toBeGreaterThan(3);
      const stored = examplePage.map((one) => ({ ...one, merchant_account_id: 'shown' }));
      await insert(...stored.map((one) => ({ ...one, metadata: { secret: 'not shown' } })));
      const { items, limit } = await page('', 'shown');
      expect(limit).toBe(20);
      const newest = [...stored].sort((a, b) => (a.created_at < b.created_at ? 1 : -1));
      expect(items).toEqual(newest);
      expect(Object.keys(items[0]?.payment_method ?? {})[0]).toBe('type');
    });

    it('an account without transactions has an empty page', async () => {
      expect(await page('', 'empty')).toEqual({
        items: [],
        limit: 20,
        next_cursor: null,
        previous_cursor: null,
      });
    });

    it('an empty cursor and null are the first page, as absent values of generated clients', async () => {
      const first = await page('?limit=3');
      for (const cursor of ['', 'null']) expect(await page(`?limit=3&cursor=${cursor}`)).toEqual(first);
      expect(await page('?limit=3&cursor')).toEqual(first);
    });

    it.each([
      ['status', Object.keys(transactionMoves).filter((status) => status !== 'processing'), 'processing'],
      [
        'currency',
        Array.from('ABCDEFGHIJK').flatMap((one) => Array.from('ABCDEFGHI', (two) => `${one}${two}X`)),
        'EUR',
      ],
      ['payment_service_id', Array.from({ length: 99 }, () => randomUUID()), service.id],
    ])('%s finds a transaction by the last of up to 100 values', async (name, others, own) => {
      const query = [...others, own].map((value) => `${name}=${value}`).join('&');
      for (const more of ['', '&amount_gte=0'])
        expect(await ids(`?${query}${more}`)).toEqual(paged.map(({ id }) => id));
    });

    it('created_at_lte and updated_at_lte both hold, whichever is named first', async () => {
      const [created, updated] = [`created_at_lte=${minute(2)}`, 'updated_at_lte=2026-11-16T00:00:00Z'];
      const oldest = paged.slice(-3).map(({ id }) => id);
      for (const query of [`${created}&${updated}`, `${updated}&${created}`])
        expect(await ids(`?${query}`)).toEqual(oldest);
    });

    it('* means every account that the caller has access to, and no other', async () => {
      const several = transaction({ merchant_account_id: 'several', created_at: minute(30) });
      await insert(several);
      const some = await frame.service.pair({ accounts: ['several', 'paged'] });
      const own = [several.id, ...paged.map(({ id }) => id)];
      expect(await ids('', '*', some.token(scope))).toEqual(own);
      expect(await ids('?currency=EUR&currency=USD', '*', some.token(scope))).toEqual(own);
      const pages = [await page('?limit=5', '*', some.token(scope))];
      pages.push(await page(`?limit=5&cursor=${pages[0]?.next_cursor ?? ''}`, '*', some.token(scope)));
      expect(pages.flatMap(({ items }) => items.map(({ id }) => id))).toEqual(own);
      const everything = await page('?limit=500&created_at_gte=0000-01-01T00:00:00Z', '*');
      const seen = new Set(everything.items.map((item) => item.merchant_account_id));
      expect([...seen]).toEqual(expect.arrayContaining(['several', 'paged', 'other']));
    });

    // A statement names up to 20 accounts.
    it('* with metadata finds those of each of 21 accounts and more', async () => {
      const { db } = frame.service.service.database;
      const many = Array.from({ length: 21 }, (_, index) => `many-${index + 10}`);
      for (const id of many) await createAccount(db, { id, display_name: id });
      const metadata = { in: 'many' };
      const made = many.map((account) => transaction({ merchant_account_id: account, metadata }));
      await insert(...made);
      const query = `?limit=100&metadata=${encodeURIComponent(JSON.stringify(metadata))}`;
      for (const number of [20, 21]) {
        const some = await frame.service.pair({ accounts: many.slice(0, number) });
        const own = made.slice(0, number).map(({ id }) => id);
        expect((await ids(query, '*', some.token(scope))).sort()).toEqual(own.sort());
      }
      // All accounts, whose number is another one than that of the transactions that match.
      expect((await ids(query, '*')).sort()).toEqual(made.map(({ id }) => id).sort());
    });

    it('buyer_id and search: a value that is not a UUID matches nothing and causes no error', async () => {
      const one = transaction({
        merchant_account_id: 'several',
        buyer: buyer({ external_identifier: 'a, b+c' }),
      });
      await insert(one);
      const urn = `urn:uuid:${one.buyer?.id ?? ''}`;
      for (const value of ['unicorn', '0', "'", '%', '🦄', urn])
        expect(await ids(`?buyer_id=${encodeURIComponent(value)}`, 'several')).toEqual([]);
      expect(await ids(`?search=${encodeURIComponent(urn)}`, 'several')).toEqual([]);
      for (const value of ['a, b+c', one.buyer?.id.toUpperCase() ?? '', one.id])
        expect(await ids(`?search=${encodeURIComponent(value)}`, 'several')).toEqual([one.id]);
    });

    it.each([
      ['two objects hold together', ['{"a":"1"}', '{"b":"2"}'], ['both']],
      ['of a key that comes twice the last value counts', ['{"a":"9"}', '{"a":"1"}'], ['both', 'a']],
      ['also within one object', ['{"a":"9","a":"1"}'], ['both', 'a']],
      ['an object without keys asks for nothing', ['{}'], ['both', 'a', 'proto', 'none']],
      ['a key is never taken for a prototype', ['{"__proto__":"1"}'], ['proto']],
      ['a prototype is never taken for a key', ['{"constructor":"1"}'], []],
      ['an empty value is a value', ['{"b":""}'], []],
      ['what cannot be stored matches nothing', ['{"a":"\\u0000"}'], []],
      ['nor does half a character', ['{"a\\ud800":"1"}'], []],
    ])('metadata: %s', async (_promise, texts, wanted) => {
      const query = texts.map((text) => `metadata=${encodeURIComponent(text)}`).join('&');
      const { items } = await page(`?${query}`, 'metadata');
      expect(new Set(items.map((item) => item.external_identifier))).toEqual(new Set(wanted));
    });
  });

  describe('422 for values that match the contract but cannot be used', () => {
    const foreign = async (query: string, account?: string, token?: string) => {
      const { status, body } = await ask(query, account, token);
      expect([query, status]).toEqual([query, 422]);
      expect(body).toEqual(contract.components.examples.ErrorForeignCursor?.value);
    };

    it('a cursor of other filters, of another account, of all accounts, or a made-up one', async () => {
      const filtered = (await page('?limit=1&currency=EUR')).next_cursor ?? '';
      const plain = (await page('?limit=1')).next_cursor ?? '';
      expect((await ask(`?cursor=${plain}`)).status).toBe(200);
      await foreign(`?cursor=${filtered}`);
      await foreign(`?currency=EUR&cursor=${plain}`);
      await foreign(`?currency=EUR&currency=USD&cursor=${filtered}`);
      await foreign(`?cursor=${plain}`, 'other');
      await foreign(`?cursor=${plain}`, '*');
      const all = (await page('?limit=1', '*')).next_cursor ?? '';
      await foreign(`?cursor=${all}`);
      // The same header, but the caller has access to other accounts.
      const some = await frame.service.pair({ accounts: ['other', 'paged'] });
      await foreign(`?cursor=${all}`, '*', some.token(scope));
      await foreign('?cursor=unicorn');
    });

    it('names the cursor and metadata at once', async () => {
      const { status, body } = await ask('?cursor=unicorn&metadata=a');
      const { ErrorForeignCursor, ErrorInvalidMetadata } = contract.components.examples;
      const detailOf = (example: unknown) => (example as { value: { detail: unknown[] } }).value.detail;
      expect([status, body]).toEqual([
        422,
        { detail: [...detailOf(ErrorForeignCursor), ...detailOf(ErrorInvalidMetadata)] },
      ]);
    });
  });
});

it('a filter that only the contract has is refused at the start, with the file to edit', async () => {
  const { document, ...rest } = await compileContract(loadContract());
  const { '/transactions': path = {}, ...paths } = document.paths;
  const { get, ...others } = path;
  if (!get) throw new Error('GET /transactions is not in the contract.');
  const parameter: Parameter = { name: 'horn', in: 'query', schema: {} };
  const parameters = [...(get.parameters ?? []), parameter];
  const changed = { ...paths, '/transactions': { ...others, get: { ...get, parameters } } };
  const start = startTestService({ contract: { ...rest, document: { ...document, paths: changed } } });
  await expect(start).rejects.toThrow(/: horn\. Add a line .* server\/resources\/transactions\/filters\.ts/);
});
