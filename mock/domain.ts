// Payments, as the rest of the mock sees it.
import { checkGiftCardBalances } from './outcomes/check-gift-card-balances.ts';
import { createPaymentMethod } from './outcomes/create-payment-method.ts';
import { listTransactions } from './outcomes/list-transactions.ts';
import type { ChooseOutcome } from './outcomes/outcome.ts';

/** Of operations whose answer is more than an example. */
export const ownOutcomes: Readonly<Record<string, ChooseOutcome>> = {
  checkGiftCardBalances,
  createPaymentMethod,
  listTransactions,
};

export { serveCardPages as serveOwnPages } from './http/card-pages.ts';
