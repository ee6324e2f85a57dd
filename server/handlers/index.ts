// Written by `npm run generate`: every operation of the contract and its handler. Do not edit.
import type { Handlers } from '../kit/contract/handler-types.ts';
import { checkGiftCardBalances } from './check-gift-card-balances.ts';
import { createPaymentMethod } from './create-payment-method.ts';
import { createWebhookSubscription } from './create-webhook-subscription.ts';
import type { WriteDeps } from './deps.ts';
import { listApiKeyPairs } from './list-api-key-pairs.ts';
import { listCardSchemeDefinitions } from './list-card-scheme-definitions.ts';
import { listTransactions } from './list-transactions.ts';
import { listWebhookSubscriptions } from './list-webhook-subscriptions.ts';

export const handlers: Handlers<WriteDeps> = {
  checkGiftCardBalances,
  createPaymentMethod,
  createWebhookSubscription,
  listApiKeyPairs,
  listCardSchemeDefinitions,
  listTransactions,
  listWebhookSubscriptions,
};
