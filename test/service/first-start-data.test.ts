// The sample data of a new sandbox. The contract's examples must work there unchanged.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import jwt from 'jsonwebtoken';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operations } from '../../generated/operations.ts';
import { root } from '../../scripts/support/root.ts';
import { thumbprint } from '../../server/kit/access/token.ts';
import type { Parameter } from '../../server/kit/contract/load.ts';
import { paymentMethodMoves } from '../../server/resources/payment-methods/rules.ts';
import { transactionMoves } from '../../server/resources/transactions/rules.ts';
import { buyers, giftCards } from '../../server/sandbox/sample-records.ts';
import { examples } from '../contract/examples.collect.ts';
import { card } from '../support/card.ts';
import { parametersOf } from '../support/requests.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ now: () => now, firstStart: true });
  // The examples of filters name a time, and the samples are made up to the time of the database.
  await sql`
    update transactions set created_at = created_at + shift, updated_at = updated_at + shift
    from (select ${now}::timestamptz - max(created_at) as shift from transactions) as moved`.execute(
    service.service.database.db,
  );
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

// The cards of the examples will expire, so the clock is fixed before that.
const now = new Date('2026-11-15T12:00:00Z');
const token = () =>
  jwt.sign({ scopes: ['*.read', '*.write'], exp: Math.floor(now.getTime() / 1000) + 600 }, service.key, {
    algorithm: 'ES512',
    keyid: thumbprint(service.key),
    noTimestamp: true,
  });

interface Transaction {
  created_at: string;
  status: string;
  currency: string;
  refunded_amount: number;
  settled: boolean;
  gift_card_redemptions: unknown[];
}

async function transactions(account: string): Promise<Transaction[]> {
  const items: Transaction[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const { body } = await service.call('GET', `/transactions?limit=100${cursor && `&cursor=${cursor}`}`, {
      token: token(),
      headers: { 'X-Service-Merchant-Account-ID': account },
    });
    const page = body as { items: Transaction[]; next_cursor: string | null };
    items.push(...page.items);
    cursor = page.next_cursor;
  }
  return items;
}

describe('the first start', () => {
  it('creates hundreds of transactions of every status in both accounts', async () => {
    const items = await transactions('default');
    expect(items).toHaveLength(300);
    expect(new Set(items.map(({ status }) => status))).toEqual(new Set(Object.keys(transactionMoves)));
    expect(new Set(items.map(({ currency }) => currency)).size).toBeGreaterThanOrEqual(4);
    expect(items.some(({ refunded_amount }) => refunded_amount > 0)).toBe(true);
    expect(items.some(({ settled }) => settled)).toBe(true);
    expect(items.some((item) => item.gift_card_redemptions.length > 0)).toBe(true);
    expect(await transactions('marketplace')).toHaveLength(60);
  });

  it('and those of `default` are of the four days before it, as the introduction says', async () => {
    const text = await readFile(join(root, 'openapi/introduction.md'), 'utf8');
    expect(text.replaceAll('\n', ' ')).toContain(
      '300 sample transactions of the four days before its first start, in the merchant account `default`',
    );
    const days = (await transactions('default')).map(({ created_at }) =>
      Math.floor((now.getTime() - Date.parse(created_at)) / 86_400_000),
    );
    // On each of them, and none before or after.
    expect([...new Set(days)].sort()).toEqual([0, 1, 2, 3]);
  });

  it('has transactions for every example of a filter', async () => {
    const filters = parametersOf('listTransactions')
      .map((parameter: Parameter & { example?: unknown }) => parameter)
      .filter(({ example }) => example !== undefined)
      .map(
        ({ name, example }) => `/transactions?${new URLSearchParams({ [name]: String(example) }).toString()}`,
      );
    expect(filters.length).toBeGreaterThan(10);
    for (const path of filters) {
      const { body } = await service.call('GET', path, { token: token() });
      expect((body as { items?: unknown[] }).items?.length, path).toBeGreaterThan(0);
    }
    const [newest] = await transactions('default');
    expect(newest).toMatchObject({ amount: 1299, currency: 'EUR', external_identifier: 'order-9001' });
  });

  it('creates buyers that cards can be stored for', async () => {
    for (const { id, external_identifier: reference, display_name } of buyers) {
      const who = reference === null ? { buyer_id: id } : { buyer_external_identifier: reference };
      const { status, body } = await service.call('POST', '/payment-methods', {
        token: token(),
        body: { ...card, ...who },
      });
      expect(status).toBe(201);
      expect(body).toMatchObject({ buyer: { id, display_name } });
    }
  });

  it('creates gift cards: one with a balance, one that is empty, one that has expired', async () => {
    const { body } = await service.call('POST', '/gift-cards/balances', {
      token: token(),
      body: { items: giftCards.map(({ id }) => ({ id })) },
    });
    expect(body).toMatchObject({
      items: [{ balance: 12550 }, { balance: 0 }, { balance: null, balance_error_code: 'expired_card' }],
    });
  });

  it('creates payment methods of every status, and counts their uses', async () => {
    const rows = await service.service.database.db
      .selectFrom('payment_methods')
      .selectAll()
      .where('external_identifier', 'like', 'card-000%')
      .execute();
    expect(new Set(rows.map(({ status }) => status))).toEqual(new Set(Object.keys(paymentMethodMoves)));
    const used = rows.reduce((sum, { usage_count }) => sum + usage_count, 0);
    expect(used).toBe(300);
    for (const row of rows) expect(row.usage_count > 0).toBe(row.status === 'succeeded');
  });

  it('creates the data only once', async () => {
    const { databaseUrl, dataDir, secrets } = service.config;
    await using again = await startTestService({ now: () => now, config: { databaseUrl, dataDir, secrets } });
    expect(again.logs.some((line) => line.includes('sample data was added'))).toBe(false);
    expect(await transactions('default')).toHaveLength(300);
  });
});

// Generated by the service, so the examples cannot have the same values.
const made = new Set([
  'id',
  'created_at',
  'updated_at',
  'fingerprint',
  'resource_id',
  'approval_url',
  'buyer',
]);
const essence = (value: object) =>
  Object.fromEntries(Object.entries(value).filter(([name]) => !made.has(name)));

describe.each(['createPaymentMethod', 'checkGiftCardBalances'] as const)('the examples of %s', (id) => {
  const own = examples.filter(({ operation }) => operation === id);

  it.each(own.filter(({ side }) => side === 'request'))('$name', async ({ name, value: body }) => {
    const promised = own.filter((one) => one.name === name && one.side !== 'request');
    expect(promised).toHaveLength(1);
    const { path } = operations[id];
    const { status, body: given } = await service.call('POST', path, { token: token(), body });
    expect(String(status)).toBe(promised[0]?.side);
    expect(essence(given)).toEqual(essence(promised[0]?.value as object));
  });
});
