// The makers of test/support/records.ts: one for each resource that is stored.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { root } from '../../scripts/support/root.ts';
import {
  createAccount,
  createApiKeyPair,
  createBuyer,
  createGiftCard,
  createPaymentMethod,
  createRole,
  createTransactions,
  createWebhookSubscription,
} from '../support/records.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { transaction } from '../support/transactions.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service[Symbol.asyncDispose]());

const db = () => service.service.database.db;
const store = () => ({ db: db(), secrets: service.secrets });

/** By the folders of server/resources/ and their tables, and what the kit stores for callers. */
const makers = {
  'api-key-pairs': ['api_key_pairs', () => createApiKeyPair(db())],
  buyers: ['buyers', () => createBuyer(db())],
  'gift-cards': ['gift_cards', () => createGiftCard(store())],
  'merchant-accounts': ['merchant_accounts', () => createAccount(db(), { id: 'made', display_name: 'Made' })],
  'payment-methods': ['payment_methods', () => createPaymentMethod(store())],
  roles: ['roles', () => createRole(db())],
  transactions: ['transactions', () => createTransactions(db(), [transaction()])],
  subscriptions: ['webhook_subscriptions', () => createWebhookSubscription(store())],
} as const;

/** What the service keeps for itself, and no operation shows. */
const internal = ['idempotency-keys', 'number-limits'];

it('there is one for each resource', () => {
  const stored = ['server/resources', 'server/kit/events']
    .flatMap((folder) => readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }))
    .flatMap((file) => /^(.+)[/\\]changes\.ts$/.exec(file)?.[1] ?? [])
    .filter((folder) => !internal.includes(folder));
  expect(Object.keys(makers).sort()).toEqual(stored.sort());
});

it.each(Object.entries(makers))('%s: without further data, and twice', async (folder, [table, make]) => {
  const count = async () => {
    const { number } = await db()
      .selectFrom(table)
      .select(({ fn }) => fn.countAll<string>().as('number'))
      .executeTakeFirstOrThrow();
    return Number(number);
  };
  const before = await count();
  await make();
  // The ID of an account is chosen by the test.
  if (folder !== 'merchant-accounts' && folder !== 'transactions') await make();
  expect(await count()).toBeGreaterThan(before);
});
