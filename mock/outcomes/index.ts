// Who decides for which operation. One that is not named here is answered from its examples, so an operation that is new in
// the contract is mocked before anybody writes a line.
import { checkGiftCardBalances } from './check-gift-card-balances.ts';
import { createPaymentMethod } from './create-payment-method.ts';
import { createWebhookSubscription } from './create-webhook-subscription.ts';
import { list, isList } from './list.ts';
import { listTransactions } from './list-transactions.ts';
import { byExample, type Choose } from './outcome.ts';

const taught: Readonly<Record<string, Choose>> = {
  checkGiftCardBalances,
  createPaymentMethod,
  createWebhookSubscription,
  listTransactions,
};

export const choose: Choose = (asked) => {
  const { operation } = asked;
  return (taught[operation.id] ?? (isList(operation) ? list : byExample))(asked);
};
