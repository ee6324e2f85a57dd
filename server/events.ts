// What happened, told to the outbox: the resource as the API shows it, in the transaction of the change.
import { presentPaymentMethod } from './present/payment-method.ts';
import { findBuyer } from './store/buyers.ts';
import type { Db } from './store/database.ts';
import type { PaymentMethodRow } from './store/payment-methods.ts';
import type { Transaction } from './store/transactions.ts';
import type { Publish } from './webhooks/outbox.ts';

export interface Announce {
  paymentMethod: (db: Db, what: 'created' | 'updated', row: PaymentMethodRow) => Promise<void>;
  transaction: (db: Db, what: 'created' | 'updated', transaction: Transaction) => Promise<void>;
}

export function createAnnounce(publish: Publish, publicUrl: () => string, now: () => Date): Announce {
  return {
    async paymentMethod(db, what, row) {
      const buyer =
        row.buyer_id === null
          ? undefined
          : await findBuyer(db, row.merchant_account_id, { id: row.buyer_id });
      await publish(
        db,
        `payment-method.${what}`,
        row.merchant_account_id,
        presentPaymentMethod(row, buyer, publicUrl()),
        now(),
      );
    },
    async transaction(db, what, transaction) {
      await publish(db, `transaction.${what}`, transaction.merchant_account_id, transaction, now());
    },
  };
}
