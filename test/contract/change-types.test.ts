// The compiler refuses a change of state that says nothing of events, that is made outside of a unit of work, or that an
// operation makes which only reads.
import { describeTypes, type Piece } from '../support/types.ts';

const head = `
import { withEvent } from '../../server/kit/events/outbox.ts';
import { createBuyer } from '../../server/resources/buyers/changes.ts';
import { createAccount } from '../../server/kit/access/accounts/changes.ts';
import { movePaymentMethod } from '../../server/resources/payment-methods/changes.ts';
import { importTransactions } from '../../server/resources/transactions/changes.ts';
import { waitOf } from '../../server/resources/number-limits/rules.ts';
import { recordAttempts } from '../../server/kit/events/attempts.ts';
import { createOutbox } from '../../server/kit/events/outbox.ts';
import { deleteExpired } from '../../server/kit/maintenance/jobs.ts';
import { events } from '../../server/kit/events/facts.ts';
import { silently, type UnitOfWork, type Work } from '../../server/kit/database/unit-of-work.ts';
import type { Deps, WriteDeps } from '../../server/handlers/deps.ts';
import { presentTransaction } from '../../server/resources/transactions/table.ts';
import type { Db } from '../../server/kit/database/database.ts';
import type { TableOf, Tables } from '../../server/kit/database/tables.ts';
import type { EventName } from '../../generated/operations.ts';
import { insertPaymentMethod, type NewPaymentMethod } from '../../server/resources/payment-methods/queries.ts';
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
    code: `export const f = () => withEvent(unit, 'transaction.updated', presentTransaction, (tx) => updateTransaction(tx, transaction));`,
  },
  {
    name: 'a change without an event does not compile',
    code: `export const f = () => updateTransaction(unit.db, transaction);`,
    fault: /hasEvent/,
  },
  {
    name: 'nor does a new row',
    code: `
      export const one = () => insertPaymentMethod(unit.db, card, unit.now);
      export const many = async () => (await prepareTransactions([transaction], unit))(unit.db);`,
    fault: /hasEvent[^]*hasEvent/,
  },
  {
    name: 'nor does a statement of its own for a row of a resource with events, as its queries have it',
    code: `
      export const one = () => work.db.insertInto('payment_methods').values(card).execute();
      export const two = () => work.db.updateTable('payment_methods').set({ status: 'failed' }).execute();
      export const read = () => work.db.selectFrom('payment_methods').selectAll().execute();
      export const other = () => work.db.updateTable('buyers').set({ display_name: 'A' }).execute();`,
    // Two faults, of `one` and of `two`.
    fault: /^TS\d+: .*InsertExpression.*\nTS\d+: .*never.*$/,
  },
  {
    name: 'so a resource gets its first event together with all of its changes: its table follows from the name of the event',
    code: `
      const known: (keyof Tables)[] = ['payment_methods', 'transactions'] satisfies TableOf<EventName>[];
      const later: Record<TableOf<'buyer.created' | 'gift-card.erased'>, true> = { buyers: true, gift_cards: true };
      export const used = [known, later];`,
  },
  {
    name: 'an event that the contract does not have cannot be published',
    code: `export const f = () => withEvent(unit, 'transaction.exploded', presentTransaction, (tx) => updateTransaction(tx, transaction));`,
    fault: /transaction\.exploded/,
  },
  {
    name: 'an event cannot show another resource',
    code: `export const f = () => withEvent(unit, 'payment-method.updated', presentTransaction, (tx) => updateTransaction(tx, transaction));`,
    fault: /not assignable/,
  },
  {
    name: 'nor a row of another table',
    code: `export const f = () => withEvent(unit, 'transaction.updated', presentTransaction, (tx) => insertPaymentMethod(tx, card, unit.now));`,
    fault: /not assignable/,
  },
  {
    name: 'a change outside of a transaction does not compile',
    code: `export const f = () => updateTransaction(db, transaction);`,
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
    name: 'whether its ID was taken must be looked at before it is used',
    code: `export const f = async () => (await createBuyer(work, { merchant_account_id: 'default' })).row.id;`,
    fault: /'row' does not exist on type/,
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
    name: 'a Date of this process is not the time of a unit of work, of a limit, an attempt, an event or a job',
    code: `
      const now = new Date();
      export const f = () => [
        createAccount({ ...work, now }, { id: 'a', display_name: 'A' }),
        waitOf([], { limit: 1, windowSeconds: 1 }, now),
        recordAttempts(work.db, now, 'worker', []),
        createOutbox({ eventFault: () => undefined })(work.db, 'transaction.updated', 'a', {}, now),
        deleteExpired(db, { name: 'events', ...events }, { before: now }),
      ];`,
    fault: /(ofDatabase[^]*){5}/,
  },
  {
    name: 'that of the database is',
    code: `
      export const f = () => [
        createAccount(work, { id: 'a', display_name: 'A' }),
        waitOf([], { limit: 1, windowSeconds: 1 }, work.now),
        deleteExpired(db, { name: 'events', ...events }, { before: work.now }),
      ];`,
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
