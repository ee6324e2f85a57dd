import { sql } from 'kysely';
import { inTransaction, type Db, type Tx } from '../../server/database/database.ts';
import { inWork, silently, type UnitOfWork } from '../../server/database/unit-of-work.ts';
import type { EventTx } from '../../server/events/outbox.ts';
import { describeSimulatedCard } from '../../server/providers/simulated.ts';
import { createBuyer as makeBuyer, type NewBuyer } from '../../server/resources/buyers/changes.ts';
import { createAccount as makeAccount } from '../../server/resources/merchant-accounts/changes.ts';
import {
  recordReplacement as findReplacement,
  type CardSecrets,
  type FoundDetails,
} from '../../server/resources/payment-methods/changes.ts';
import { importTransactions } from '../../server/resources/transactions/changes.ts';
import {
  prepareTransactions,
  updateTransaction as updateRow,
  type NewTransaction,
} from '../../server/resources/transactions/queries.ts';
/** Creates records for tests with the actions of the service, without events. */

export const silentWork = <T>(db: Db, work: (unit: UnitOfWork) => Promise<T>): Promise<T> =>
  inWork(db, (unit) => work(silently(unit, 'sample data')));

export const createAccount = (db: Db, account: Parameters<typeof makeAccount>[1]) =>
  silentWork(db, (unit) => makeAccount(unit, account));

/** By default without a name, in the merchant account `default`. */
export const createBuyer = async (db: Db, given: Partial<NewBuyer> = {}) => {
  const made = await silentWork(db, (unit) => makeBuyer(unit, { merchant_account_id: 'default', ...given }));
  if (!made) throw new Error('A buyer with this ID or external identifier exists already.');
  return made;
};

export const createTransactions = (db: Db, rows: readonly NewTransaction[]) =>
  silentWork(db, (unit) => importTransactions(unit, [{ rows }]));

export const insertTransactionsIn = async (tx: Tx, rows: readonly NewTransaction[]) => {
  const insert = await prepareTransactions(rows, { publish: undefined });
  return (await insert(tx as EventTx)).refused;
};

export const insertTransactions = (db: Db, rows: readonly NewTransaction[]) =>
  inTransaction(db, (tx) => insertTransactionsIn(tx, rows));

export const updateTransaction = (db: Db, transaction: NewTransaction) =>
  inTransaction(db, (tx) => updateRow(tx as EventTx, transaction));

/** The number of a card that replaces another: its last four digits are 4444. */
const newNumber = '5555555555554444';

/** Like the account updater; by default with a new number. */
export const recordReplacement = (
  { db, secrets }: { db: Db; secrets: CardSecrets },
  id: string,
  details: Partial<FoundDetails> = {},
) =>
  silentWork(db, (unit) =>
    findReplacement(
      unit,
      id,
      { expiration_date: '12/44', number: newNumber, ...details },
      { ...secrets, describeCard: describeSimulatedCard },
    ),
  );

/** As if the card were valid until the end of this month, or had been until the end of the last one. */
export const expireCard = (db: Db, id: string, month: 'this' | 'last') =>
  sql`
    update payment_methods
    set expiration_date = to_char(now() at time zone 'UTC' - ${month === 'this' ? '0' : '1'}::integer * interval '1 month', 'MM/YY')
    where merchant_account_id = 'default' and id = ${id}`.execute(db);

/** As if so much time had passed since numbers and PINs were tried. */
export const forgetNumbers = (db: Db, seconds: number) =>
  sql`update number_buckets set seen =
    (select jsonb_object_agg(number, at::bigint - ${seconds * 1000}) from jsonb_each(seen) as one (number, at))`.execute(
    db,
  );
