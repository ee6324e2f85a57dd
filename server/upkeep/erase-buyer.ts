// Erases the personal data of one buyer, while the service runs. Amounts and states of transactions stay. First the records,
// so that nothing new can show the data, then what was made of them: kept answers and events. In small transactions, each in one
// account; after an interruption the next run finds what is left.
// Nobody is told: subscribers could do nothing with an event that says nothing, and there would be one per transaction.
import { findAccountOf } from '../database/across-accounts.ts';
import type { Db, Tx } from '../database/database.ts';
import type { Work } from '../database/unit-of-work.ts';
import type { PageEnd } from '../events/delivery-list.ts';
import { listAccounts } from '../resources/merchant-accounts/queries.ts';
import { erasableProperties, eraseMethod, eraseTransaction, tablesOfBuyers } from '../resources/personal.ts';
import { writeErasedTransactions } from '../resources/transactions/queries.ts';
import { presentTransaction, type NewTransaction } from '../resources/transactions/table.ts';
import {
  beginErasure,
  eraseAnswers,
  deleteEvents,
  endErasure,
  eraseBuyerRecord,
  eraseExternalIdentifier,
  eraseRecords,
  findErasure,
  listEvents,
  listRecords,
  listTransactions,
  lockBuyerToErase,
  lockTransactions,
  refreshStatistics,
  type FoundTransaction,
  type FoundIds,
  type Person,
} from './erasure-queries.ts';

export interface Erasure {
  /** How many records had personal data, by table. */
  found: Record<string, number>;
  /** Whether there was nothing left to do. */
  isDone: boolean;
}

interface ErasureOptions {
  db: Db;
  /** Runs a transaction. `work` returns how many records it changed. */
  inStep: (work: (unit: Work) => Promise<number>) => Promise<number>;
  /** Counts, and changes nothing: each transaction is rolled back. */
  dryRun: boolean;
  /** Erases the merchant's references of transactions, too. */
  references: boolean;
  onProgress: (soFar: Erasure['found']) => void;
}

class RolledBack extends Error {}

/** Undefined when neither a record nor a transaction names the buyer. */
export async function eraseBuyer(id: string, options: ErasureOptions): Promise<Erasure | undefined> {
  const { db, inStep, dryRun, references, onProgress } = options;
  const found: Erasure['found'] = {};
  /** Runs a transaction, and counts what it changed. */
  const step = async (name: string, work: (unit: Work) => Promise<number>): Promise<void> => {
    let changed = 0;
    await inStep(async (unit) => {
      changed = await work(unit);
      if (dryRun) throw new RolledBack();
      if (changed > 0) await beginErasure(unit.db, id, unit.now);
      return changed;
    }).catch((error: unknown) => {
      if (!(error instanceof RolledBack)) throw error;
    });
    found[name] = (found[name] ?? 0) + changed;
    onProgress(found);
  };
  /** One transaction for each page of each account. Returns whether there was anything. */
  const steps = async (
    name: string,
    list: (account: string, after: PageEnd | undefined) => Promise<FoundIds>,
    change: (tx: Tx, account: string, ids: readonly string[]) => Promise<number>,
  ): Promise<boolean> => {
    found[name] = 0;
    let isFound = false;
    for (const { id: account } of await listAccounts(db)) {
      let after: PageEnd | undefined;
      do {
        const { ids, next } = await list(account, after);
        isFound ||= ids.length > 0;
        if (ids.length > 0) await step(name, ({ db: tx }) => change(tx, account, ids));
        after = next;
      } while (after);
    }
    return isFound;
  };

  // Without a record of the buyer no other record names it, and no account has an empty ID.
  const account = (await findAccountOf(db, 'buyers', id)) ?? '';
  const person: Person = { id, account, externalIdentifier: null, records: [] };
  await step('buyers', async (unit) => {
    person.externalIdentifier = (await lockBuyerToErase(unit.db, account, id))?.external_identifier ?? null;
    return eraseBuyerRecord(unit.db, account, id, unit.now);
  });
  for (const [name, fates] of tablesOfBuyers) {
    await step(name, ({ db: tx, now }) => eraseRecords(tx, [name, fates], person, now));
    person.records.push(...(await listRecords(db, name, person)));
  }
  const isNamed = await steps(
    'transactions',
    (one, after) => listTransactions(db, one, person, after),
    async (tx, one, ids) => {
      const rows = await lockTransactions(tx, one, ids, person);
      const erased = rows.flatMap((row) => withoutData(row, references) ?? []);
      await writeErasedTransactions(tx, one, erased);
      return erased.length;
    },
  );
  if (account === '' && !isNamed) return undefined;
  await step('kept_answers', ({ db: tx }) => eraseAnswers(tx, person));
  await steps('events', (one, after) => listEvents(db, one, person, after), deleteEvents);
  if (dryRun) return { found, isDone: Object.values(found).every((records) => records === 0) };
  // Last, because a run that continues an interrupted one needs it.
  await inStep(({ db: tx }) => eraseExternalIdentifier(tx, person));
  if (!(await findErasure(db, id))) return { found, isDone: true };
  await refreshStatistics(db);
  await inStep(async ({ db: tx }) => {
    await endErasure(tx, id);
    return 0;
  });
  return { found, isDone: false };
}

/** Undefined when there is nothing to erase. */
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
