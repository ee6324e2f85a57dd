// The makers of test/support/records.ts.
import { afterAll, beforeAll, expect, it } from 'vitest';
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

/** By the folders of server/, with their tables. */
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
