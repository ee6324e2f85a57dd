// Erases the personal data of one buyer, while the service runs. Amounts and states of transactions stay. First the records,
// so that nothing new can show the data, then what was made of them: kept answers and events. In small transactions, each in one
// account; after an interruption the next run finds what is left.
// Nobody is told: subscribers could do nothing with an event that says nothing, and there would be one per transaction.
import { findAccountOf } from '../../kit/database/across-accounts.ts';
import type { Db } from '../../kit/database/database.ts';
import { requireRightToErase } from '../../kit/database/grants.ts';
import { facts } from '../facts.ts';
import { erasableProperties, eraseMethod, eraseTransaction } from '../transactions/facts.ts';
import { writeErasedTransactions } from '../transactions/queries.ts';
import { presentTransaction, type NewTransaction } from '../transactions/table.ts';
import {
  beginErasure,
  eraseAnswers,
  deleteEvents,
  endErasure,
  eraseBuyerRecord,
  eraseExternalIdentifier,
  eraseRecords,
  erasureOfBuyer,
  hasErasure,
  listAccountsNaming,
  listEventsShowing,
  listRecords,
  listTransactionsNaming,
  lockBuyerToErase,
  lockTransactions,
  type FoundTransaction,
  type Person,
} from './queries.ts';
import { refreshStatistics, tablesWithTraces } from './statistics.ts';
import { createSteps, type FoundRecords, type StepOptions } from './steps.ts';

export interface Erasure {
  found: FoundRecords;
  isDone: boolean;
}

interface ErasureOptions extends StepOptions {
  db: Db;
  /** Erases the merchant's references of transactions, too. */
  references: boolean;
}

/** Tables with columns that are erased whose rows name their buyer. */
export const tablesOfBuyers = Object.entries(facts).flatMap(([table, { erasure }]) =>
  typeof erasure === 'object' && 'buyer_id' in erasure ? [[table, erasure] as const] : [],
);

/** Undefined when neither a record nor a transaction names the buyer. */
export async function eraseBuyer(id: string, options: ErasureOptions): Promise<Erasure | undefined> {
  const { db, inStep, dryRun, references } = options;
  await requireRightToErase(db, tablesWithTraces);
  const marks = [erasureOfBuyer(id)];
  const { found, step, steps } = createSteps(options, (unit) => beginErasure(unit, marks));

  // Without a record of the buyer no other record names it, and no account has an empty ID.
  const account = (await findAccountOf(db, 'buyers', id)) ?? '';
  const person: Person = { id, account, externalIdentifier: null, records: [] };
  await step('buyers', async (unit) => {
    person.externalIdentifier = (await lockBuyerToErase(unit.db, account, id))?.external_identifier ?? null;
    return eraseBuyerRecord(unit.db, account, id, unit.now);
  });
  for (const [name, rules] of tablesOfBuyers) {
    await step(name, ({ db: tx, now }) => eraseRecords(tx, [name, rules], person, now));
    person.records.push(...(await listRecords(db, name, person)));
  }
  // In its own account, a reference may name the buyer, too.
  const accounts = new Set([account, ...(await listAccountsNaming(db, person))]);
  const isNamed = await steps(
    'transactions',
    [...accounts],
    (one, after) => listTransactionsNaming(db, one, person, after),
    async ({ db: tx }, one, ids) => {
      const rows = await lockTransactions(tx, one, ids, person);
      const erased = rows.flatMap((row) => withoutData(row, references) ?? []);
      await writeErasedTransactions(tx, one, erased);
      return erased.length;
    },
  );
  if (account === '' && !isNamed) return undefined;
  await step('kept_answers', ({ db: tx }) => eraseAnswers(tx, account, [id, ...person.records]));
  await steps(
    'events',
    [{ account }, { except: account }],
    (place, after) => listEventsShowing(db, place, person, after),
    deleteEvents,
  );
  if (dryRun) return { found, isDone: Object.values(found).every((records) => records === 0) };
  // Last, because a run that continues an interrupted one needs it.
  await inStep(async ({ db: tx, audit }) => {
    if ((await eraseExternalIdentifier(tx, person)) > 0) await audit({});
  });
  if (!(await hasErasure(db, marks))) return { found, isDone: true };
  await refreshStatistics(db, tablesWithTraces);
  await inStep((unit) => endErasure(unit, marks));
  return { found, isDone: false };
}

function withoutData(
  { isOwn, isCard, ...row }: FoundTransaction,
  references: boolean,
): NewTransaction | undefined {
  const before: NewTransaction = { ...row, ...presentTransaction(row) };
  const { payment_method: method } = before;
  const after: NewTransaction = isOwn
    ? { ...eraseTransaction(before), ...(references && { external_identifier: null }) }
    : { ...before, ...(isCard && method && { payment_method: eraseMethod(method) }) };
  const textOf = (one: NewTransaction) =>
    JSON.stringify(erasableProperties.map((name) => one[name as keyof NewTransaction]));
  return textOf(before) === textOf(after) ? undefined : after;
}
