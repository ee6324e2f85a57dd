// The compiler refuses a change of state that says nothing of events, that is made outside of a unit of work, or that an
// operation makes which only reads.
import { describeTypes, type Piece } from '../support/types.ts';

const head = `
import { announce } from '../../server/events/outbox.ts';
import { createBuyer } from '../../server/resources/buyers/changes.ts';
import { createAccount } from '../../server/resources/merchant-accounts/changes.ts';
import { movePaymentMethod } from '../../server/resources/payment-methods/changes.ts';
import { importTransactions } from '../../server/resources/transactions/changes.ts';
import { silently, type UnitOfWork, type Work } from '../../server/database/unit-of-work.ts';
import type { Deps, WriteDeps } from '../../server/handlers/deps.ts';
import { presentTransaction } from '../../server/resources/transactions/table.ts';
import type { Db } from '../../server/database/database.ts';
import { insertPaymentMethod, updatePaymentMethod, type NewPaymentMethod } from '../../server/resources/payment-methods/queries.ts';
import { prepareTransactions, updateTransaction, type NewTransaction } from '../../server/resources/transactions/queries.ts';
declare const unit: UnitOfWork;
declare const work: Work;
declare const db: Db;
declare const card: NewPaymentMethod;
declare const transaction: NewTransaction;
`;

const pieces: Piece[] = [
  {
    name: 'a change with its event compiles',
    code: `export const f = () => updateTransaction(unit.db, transaction, announce(unit, 'transaction.updated', presentTransaction));`,
  },
  {
    name: 'a change without an event does not compile',
    code: `export const f = () => updateTransaction(unit.db, transaction);`,
    fault: /Expected 3 arguments/,
  },
  {
    name: 'nor does a new row',
    code: `export const f = () => [insertPaymentMethod(unit.db, card), prepareTransactions([transaction])];`,
    fault: /Expected 3 arguments[^]*Expected 2 arguments/,
  },
  {
    name: 'a function that does nothing is no announcement',
    code: `export const f = () => updatePaymentMethod(unit.db, { id: '', merchant_account_id: '' }, { status: 'failed' }, { tell: () => Promise.resolve() });`,
    fault: /isAnnouncement/,
  },
  {
    name: 'an event that the contract does not have cannot be announced',
    code: `export const f = () => announce(unit, 'transaction.exploded', presentTransaction);`,
    fault: /transaction\.exploded/,
  },
  {
    name: 'an event cannot announce another resource',
    code: `export const f = () => announce(unit, 'payment-method.updated', presentTransaction);`,
    fault: /not assignable/,
  },
  {
    name: 'a change outside of a transaction does not compile',
    code: `export const f = () => updateTransaction(db, transaction, announce(unit, 'transaction.updated', presentTransaction));`,
    fault: /Kysely/,
  },
  {
    name: 'an action on a resource with events takes a unit of work with an outbox',
    code: `export const f = () => movePaymentMethod(work, '', 'failed');`,
    fault: /publish/,
  },
  {
    name: 'one on a resource without events does not need it',
    code: `export const f = () => createAccount(work, { id: 'a', display_name: 'A' });`,
  },
  {
    name: 'a new buyer has the fields of the contract, and what may be null may be left out',
    code: `export const f = () => [
      createBuyer(work, { merchant_account_id: 'default' }),
      createBuyer(work, { merchant_account_id: 'default', billing_details: null, display_name: 'A' }),
    ];`,
  },
  {
    name: 'and no field that the contract does not have, nor an object of another shape',
    code: `export const f = () => [
      createBuyer(work, { merchant_account_id: 'default', unicorn: 'A' }),
      createBuyer(work, { merchant_account_id: 'default', billing_details: { horns: 1 } }),
    ];`,
    fault: /unicorn[^]*horns/,
  },
  {
    name: 'silence is asked for by name',
    code: `export const f = () => importTransactions(silently(work, 'imported without --events'), []);`,
  },
  {
    name: 'and by a name that is known',
    code: `export const f = () => importTransactions(silently(work, 'because I can'), []);`,
    fault: /because I can/,
  },
  {
    name: 'an operation that reads has no unit of work',
    code: `export const f = (deps: Deps) => deps.inUnitOfWork;`,
    fault: /inUnitOfWork/,
  },
  {
    name: 'one that writes has',
    code: `export const f = (deps: WriteDeps) =>
      deps.inUnitOfWork(async (one) => ({ status: 200, body: await movePaymentMethod(one, '', 'failed') }));`,
  },
];

describeTypes('a change of state', head, pieces);
