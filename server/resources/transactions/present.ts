import { presentColumns } from '../../database/columns.ts';
import type { TransactionRow } from './queries.ts';
import { transactionColumns, transactionConstants, type Transaction } from './table.ts';

const shown = presentColumns<TransactionRow, Pick<Transaction, keyof typeof transactionColumns>>(
  transactionColumns,
);

export const presentTransaction = (row: TransactionRow): Transaction => ({
  ...transactionConstants,
  ...shown(row),
});
