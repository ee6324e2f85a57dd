// Events that no change caused, to try out receivers in the sandbox.
import type { EventName } from '../../generated/operations.ts';
import type { Published, Target, UnitOfWork } from '../kit/database/unit-of-work.ts';
import { lockBuyer } from '../resources/buyers/queries.ts';
import { findPaymentMethod, listPaymentMethods } from '../resources/payment-methods/queries.ts';
import { presentPaymentMethod } from '../resources/payment-methods/table.ts';
import { listTransactionPage } from '../resources/transactions/list.ts';
import { findTransaction } from '../resources/transactions/queries.ts';
import { presentTransaction } from '../resources/transactions/table.ts';

interface Wanted {
  account: string;
  /** The ID of the record; the newest of the account if left out. */
  id: string | undefined;
  /** The only subscription that gets it. */
  subscription?: string | undefined;
  /** The target in the contract's example, for an account that has no such record. */
  example: object;
}

interface Triggered extends Published {
  target: Partial<Record<string, unknown>>;
  isExample: boolean;
}

/** Undefined when the account has no record with this ID. */
export async function triggerEvent(
  unit: UnitOfWork,
  name: EventName,
  { account, id, subscription, example }: Wanted,
): Promise<Triggered | undefined> {
  const record = await readers[name.slice(0, name.lastIndexOf('.'))]?.(unit, account, id);
  if (!unit.publish || (id !== undefined && !record)) return undefined;
  // Not every resource shows its account.
  const own = 'merchant_account_id' in example ? { merchant_account_id: account } : {};
  const target = record ?? { ...example, ...own };
  // The name is known only now, so the compiler cannot say which target it has. The outbox checks it against the contract.
  const published = await unit.publish(name, account, target as Target<EventName>, subscription);
  return { ...published, target: { ...target }, isExample: !record };
}

type Reader = (unit: UnitOfWork, account: string, id: string | undefined) => Promise<object | undefined>;

/** The record that an event shows, by the first part of its name. Events without a reader show the example. */
const readers: Partial<Record<string, Reader>> = {
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
