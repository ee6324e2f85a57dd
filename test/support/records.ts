/** Creates records of payments for tests with the actions of the service, without events; kit-records.ts has those of any API. */
import { sql } from 'kysely';
import { inTransaction, type Db, type Tx } from '../../server/kit/database/database.ts';
import type { EventTx } from '../../server/kit/events/outbox.ts';
import { describeSimulatedCard } from '../../server/providers/simulated.ts';
import { createBuyer as makeBuyer, type NewBuyer } from '../../server/resources/buyers/changes.ts';
import { createGiftCard as makeGiftCard } from '../../server/resources/gift-cards/changes.ts';
import {
  recordReplacement as findReplacement,
  storeCard,
  type CardSecrets,
  type FoundDetails,
  type NewCard,
} from '../../server/resources/payment-methods/changes.ts';
import { importTransactions } from '../../server/resources/transactions/changes.ts';
import {
  prepareTransactions,
  updateTransaction as updateRow,
  type NewTransaction,
} from '../../server/resources/transactions/queries.ts';
import { rowOf, silentWork } from './kit-records.ts';

export * from './kit-records.ts';

/** By default without a name, in the merchant account `default`. */
export const createBuyer = async (db: Db, given: Partial<NewBuyer> = {}) => {
  const buyer = { merchant_account_id: 'default', ...given };
  return rowOf(await silentWork(db, (unit) => makeBuyer(unit, buyer)));
};

/** A database, and the secrets that sealed columns need: as a test of an operation has them in its frame. */
interface Store {
  db: Db;
  secrets: CardSecrets;
}

/** By default a card that can be used, without a buyer, in the merchant account `default`. */
export const createPaymentMethod = async (
  { db, secrets }: Store,
  { number = '4111111111111111', ...given }: Partial<NewCard> = {},
) => {
  const usual = {
    merchant_account_id: 'default',
    buyer_id: null,
    external_identifier: null,
    expiration_date: '12/44',
    status: 'succeeded',
    redirect_url: null,
  } as const;
  const card = { ...usual, ...describeSimulatedCard(number), ...given, number };
  return rowOf(await silentWork(db, (unit) => storeCard(unit, card, secrets)));
};

/** By default $50.00 in the merchant account `default`. */
export const createGiftCard = async (
  { db, secrets: { vault } }: Store,
  given: Partial<Parameters<typeof makeGiftCard>[1]> = {},
) => {
  const card = { merchant_account_id: 'default', number: '9999000050001234', pin: '1234', ...given };
  return rowOf(await silentWork(db, (unit) => makeGiftCard(unit, card, vault)));
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

/** The same for services in this process, which remember what is closed. */
export async function forgetNumbersEverywhere(db: Db, seconds: number): Promise<void> {
  await forgetNumbers(db, seconds);
  const now = performance.now.bind(performance);
  performance.now = () => now() + 1000 * seconds;
}
