import type { TransactionRow } from '../store/transactions.ts';
import { transactionColumns, transactionConstants, type Transaction } from '../store/tables/transactions.ts';
import { presentColumns } from './columns.ts';

const shown = presentColumns<TransactionRow, Pick<Transaction, keyof typeof transactionColumns>>(
  transactionColumns,
);

export const presentTransaction = (row: TransactionRow): Transaction => ({
  ...transactionConstants,
  ...shown(row),
});
