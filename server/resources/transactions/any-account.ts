// For operators, who know only the ID. Handlers cannot import this.
import { inAnyAccount } from '../../kit/database/across-accounts.ts';
import { findTransaction, lockTransaction } from './queries.ts';

export const findTransactionOfAnyAccount = inAnyAccount('transactions', findTransaction);
export const lockTransactionOfAnyAccount = inAnyAccount('transactions', lockTransaction);
