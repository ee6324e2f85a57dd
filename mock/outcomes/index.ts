// Chooses the outcome of a request. An operation without an entry here is answered from its examples, so a new operation of
// the contract is mocked without any code.
import { ownOutcomes } from '../domain.ts';
import { createWebhookSubscription } from './create-webhook-subscription.ts';
import { listWebhookSubscriptions } from './list-webhook-subscriptions.ts';
import { list, isList } from './list.ts';
import { fromExamples, type ChooseOutcome } from './outcome.ts';

const byOperation: Readonly<Record<string, ChooseOutcome>> = {
  createWebhookSubscription,
  listWebhookSubscriptions,
  ...ownOutcomes,
};

export const chooseOutcome: ChooseOutcome = (request) => {
  const { operation } = request;
  const choose = byOperation[operation.id] ?? (isList(operation) ? list : fromExamples);
  return choose(request);
};
