// For operators and the approval page, who know only the ID. Handlers cannot import this.
import { inAnyAccount } from '../../kit/database/across-accounts.ts';
import { findPaymentMethod, lockPaymentMethod } from './queries.ts';

export const findPaymentMethodOfAnyAccount = inAnyAccount('payment_methods', findPaymentMethod);
export const lockPaymentMethodOfAnyAccount = inAnyAccount('payment_methods', lockPaymentMethod);
