// What the rest of the service may ask of the database: plain functions, bound to a connection or to a transaction.
import { findSigningPair, listApiKeyPairPage, touchApiKeyPair } from './api-key-pairs.ts';
import { findBuyer } from './buyers.ts';
import type { Db } from './database.ts';
import { findGiftCards } from './gift-cards.ts';
import { findAccount, firstAccount } from './merchant-accounts.ts';
import { createPaymentMethod, findByExternalIdentifier } from './payment-methods.ts';
import { listTransactionPage } from './transactions.ts';
import { createWebhookSubscription, listWebhookSubscriptionPage } from './webhook-subscriptions.ts';

type Bound<F> = F extends (db: Db, ...args: infer Args) => infer Result ? (...args: Args) => Result : never;

const functions = {
  findSigningPair,
  listApiKeyPairPage,
  touchApiKeyPair,
  findAccount,
  firstAccount,
  findBuyer,
  findGiftCards,
  createPaymentMethod,
  findByExternalIdentifier,
  createWebhookSubscription,
  listWebhookSubscriptionPage,
  listTransactionPage,
};

export type Store = { [Name in keyof typeof functions]: Bound<(typeof functions)[Name]> };

export function createStore(db: Db): Store {
  const bound = Object.entries(functions).map(([name, run]) => [
    name,
    (run as (db: Db, ...args: unknown[]) => unknown).bind(undefined, db),
  ]);
  return Object.fromEntries(bound) as Store;
}
