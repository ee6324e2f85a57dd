// Chooses the outcome of a request. An operation without an entry here is answered from its examples, so a new operation of
// the contract is mocked without any code.
import type { MockOperation } from '../operations.ts';
import { checkGiftCardBalances } from './check-gift-card-balances.ts';
import { createPaymentMethod } from './create-payment-method.ts';
import { createWebhookSubscription } from './create-webhook-subscription.ts';
import { listTransactions } from './list-transactions.ts';
import { listWebhookSubscriptions } from './list-webhook-subscriptions.ts';
import { list, isList } from './list.ts';
import { fromExamples, type ChooseOutcome } from './outcome.ts';

const byOperation: Readonly<Record<string, ChooseOutcome>> = {
  checkGiftCardBalances,
  createPaymentMethod,
  createWebhookSubscription,
  listTransactions,
  listWebhookSubscriptions,
};

const outcomeOf = (operation: MockOperation): ChooseOutcome =>
  byOperation[operation.id] ?? (isList(operation) ? list : fromExamples);

/** Whether the mock shows an example of the contract, whatever the request is and whatever the service has stored. */
export const showsExample = (operation: MockOperation): boolean => outcomeOf(operation) === fromExamples;

export const chooseOutcome: ChooseOutcome = (request) => outcomeOf(request.operation)(request);
