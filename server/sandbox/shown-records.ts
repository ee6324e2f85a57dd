// What an event shows when no change caused it: see cli/webhooks-trigger.ts.
import type { UnitOfWork } from '../kit/database/unit-of-work.ts';
import { lockBuyer } from '../resources/buyers/queries.ts';
import { findPaymentMethod, listPaymentMethods } from '../resources/payment-methods/queries.ts';
import { presentPaymentMethod } from '../resources/payment-methods/table.ts';
import { listTransactionPage } from '../resources/transactions/list.ts';
import { findTransaction } from '../resources/transactions/queries.ts';
import { presentTransaction } from '../resources/transactions/table.ts';

type Reader = (unit: UnitOfWork, account: string, id: string | undefined) => Promise<object | undefined>;

/** By the first part of the event's name. Events without one show the example. */
export const shownRecords: Partial<Record<string, Reader>> = {
  async transaction({ db }, account, id) {
    const page = { limit: 1, cursor: undefined };
    const wanted = id ?? (await listTransactionPage(db, { only: [account] }, {}, page)).rows[0]?.id;
    const row = wanted === undefined ? undefined : await findTransaction(db, account, wanted);
    return row && presentTransaction(row);
  },
  async 'payment-method'({ db, publicUrl }, account, id) {
    const row =
      id === undefined
        ? (await listPaymentMethods(db, account, { limit: 1 }))[0]
        : await findPaymentMethod(db, account, id);
    if (!row) return undefined;
    const buyer = row.buyer_id === null ? undefined : await lockBuyer(db, account, { id: row.buyer_id });
    return presentPaymentMethod(row, buyer, publicUrl);
  },
};
