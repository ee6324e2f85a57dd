// Erases the personal data of one buyer, while the service runs. Amounts and states of transactions stay. First the records,
// so that nothing new can show the data, then what was made of them: kept answers and events. In small transactions; after
// an interruption the next run finds what is left.
// Nobody is told: subscribers could do nothing with an event that says nothing, and there would be one per transaction.
import { parseJson } from '../../client/json.ts';
import { noOwner, ownerOfSeveral, type SentAnswer } from '../domain/idempotency.ts';
import {
  buyerIn,
  eraseResource,
  eraseTransaction,
  isResource,
  type Subject,
} from '../domain/personal-data.ts';
import type { Vault } from '../domain/vault.ts';
import { presentTransaction } from '../present/transaction.ts';
import { findAccountOf } from '../store/across-accounts.ts';
import {
  answerTables,
  eraseCards,
  eraseExternalIdentifier,
  listBuyerIds,
  listCardIds,
  listEventKeys,
  lockAnswers,
  lockBuyer,
  lockCards,
  lockEvents,
  lockTransactions,
  markBuyerErased,
  refreshStatistics,
  writeAnswers,
  writeEvents,
  type EventKey,
  type TransactionMatch,
} from '../store/erasure.ts';
import type { Db, Tx } from '../store/database.ts';
import { listAccounts } from '../store/merchant-accounts.ts';
import { writeErasedTransactions } from '../store/transactions.ts';
import { placeOfAnswer } from './idempotency.ts';
import type { Work } from './unit-of-work.ts';

const nothing = {
  buyers: 0,
  payment_methods: 0,
  transactions: 0,
  kept_answers: 0,
  events: 0,
};

/** How many records had personal data. */
export type Erasure = typeof nothing;

export interface ErasureOptions {
  db: Db;
  vault: Vault;
  /** Runs a transaction. `work` returns how many records it changed. */
  inStep: (work: (unit: Work) => Promise<number>) => Promise<number>;
  /** Counts, and changes nothing. */
  dryRun: boolean;
  /** Erases the merchant's references of transactions, too. */
  references: boolean;
  onProgress: (soFar: Erasure) => void;
}

interface Found<Place> {
  /** Records with personal data. */
  found: number;
  write: () => Promise<unknown>;
  /** Where the next batch begins. */
  next?: Place | undefined;
}

/** Runs a transaction and counts what it found; writes it unless this is a dry run. Returns where the next batch begins. */
type Step = <Place>(
  name: keyof Erasure,
  work: (unit: Work) => Promise<Found<Place>>,
) => Promise<Place | undefined>;

interface Context extends ErasureOptions {
  subject: Subject;
  step: Step;
}

async function eachBatch<Place>(
  batch: (after: Place | undefined) => Promise<Place | undefined>,
): Promise<void> {
  let after: Place | undefined;
  do after = await batch(after);
  while (after !== undefined);
}

/** Undefined when neither a record nor a transaction names the buyer. All zero when it was erased before. */
export async function eraseBuyer(id: string, options: ErasureOptions): Promise<Erasure | undefined> {
  const { db, inStep, dryRun, onProgress } = options;
  const erasure: Erasure = { ...nothing };
  const step: Step = async <Place>(name: keyof Erasure, work: (unit: Work) => Promise<Found<Place>>) => {
    let next: Place | undefined;
    await inStep(async (unit) => {
      const result = await work(unit);
      next = result.next;
      erasure[name] += result.found;
      if (result.found === 0 || dryRun) return 0;
      await result.write();
      return result.found;
    });
    onProgress(erasure);
    return next;
  };

  const account = await findAccountOf(db, 'buyers', id);
  let record: Awaited<ReturnType<typeof lockBuyer>>;
  await step('buyers', async (unit) => {
    if (account === undefined) return { found: 0, write: () => Promise.resolve() };
    record = await lockBuyer(unit.db, account, id);
    const found = record?.erased_at === null ? 1 : 0;
    return { found, write: () => markBuyerErased(unit.db, account, id, unit.now) };
  });
  const subject: Subject = {
    id,
    account,
    externalIdentifier: record?.external_identifier ?? null,
    cards: new Set(account === undefined ? [] : await listCardIds(db, account, id)),
  };
  const context: Context = { ...options, subject, step };
  // Without a record of the buyer no card names it.
  if (account !== undefined)
    await step('payment_methods', async ({ db: tx, now }) => {
      const cards = await lockCards(tx, account, id);
      return { found: cards.length, write: () => eraseCards(tx, account, cards, now) };
    });
  const isNamed = await eraseTransactions(context);
  if (!record && !isNamed) return undefined;
  await eraseAnswers(context);
  await eraseEvents(context);
  if (dryRun) return erasure;
  // Last, because a run that continues an interrupted one needs it.
  await inStep(async (unit) => {
    if (account !== undefined) await eraseExternalIdentifier(unit.db, account, id);
    if (Object.values(erasure).some((found) => found > 0)) await refreshStatistics(unit.db);
    return 0;
  });
  return erasure;
}

/** Returns whether there are transactions of the buyer. */
async function eraseTransactions({ db, subject, step, references }: Context): Promise<boolean> {
  // One transaction may match in several ways.
  const done = new Set<string>();
  for (const match of matchesOf(subject, await listAccounts(db)))
    await eachBatch((after: Parameters<typeof lockTransactions>[2]) =>
      step('transactions', async ({ db: tx }) => {
        const { rows, next } = await lockTransactions(tx, match, after);
        const others = await othersAmong(tx, rows, subject);
        const changed = rows.flatMap((row) => {
          if (done.has(row.id)) return [];
          done.add(row.id);
          const shown = { ...presentTransaction(row), metadata: row.metadata };
          const erased = eraseTransaction(shown, subject, { references, others });
          return isSame(shown, erased) ? [] : { ...row, ...erased };
        });
        return {
          found: changed.length,
          write: () => writeErasedTransactions(tx, match.account, changed),
          next,
        };
      }),
    );
  return done.size > 0;
}

function* matchesOf(
  { id, account, externalIdentifier, cards }: Subject,
  accounts: readonly { id: string }[],
): Generator<TransactionMatch> {
  if (account !== undefined && externalIdentifier !== null)
    yield { account, column: 'buyer_external_identifier', value: externalIdentifier };
  for (const one of accounts) {
    yield { account: one.id, column: 'buyer_id', value: id };
    for (const card of cards) yield { account: one.id, column: 'payment_method_id', value: card };
  }
}

/** The buyers that these name and that have a record, other than the subject. */
async function othersAmong(
  tx: Tx,
  resources: readonly Parameters<typeof buyerIn>[0][],
  { id }: Subject,
): Promise<Set<string>> {
  const named = new Set(resources.flatMap((resource) => buyerIn(resource) ?? []));
  named.delete(id);
  return named.size === 0 ? named : listBuyerIds(tx, [...named]);
}

/** The answers stay, so that a request that is repeated is still not carried out twice. */
async function eraseAnswers(context: Context): Promise<void> {
  // An answer to a request about several accounts or about none has no account of its own.
  const accounts = [...(await listAccounts(context.db)).map(({ id }) => id), ownerOfSeveral, noOwner];
  for (const table of answerTables)
    for (const account of accounts) await eraseAnswersOf(context, table, account);
}

const eraseAnswersOf = (
  { vault, subject, step, references }: Context,
  table: (typeof answerTables)[number],
  account: string,
): Promise<void> =>
  eachBatch((after: Parameters<typeof lockAnswers>[3]) =>
    step('kept_answers', async ({ db: tx }) => {
      const { rows, next } = await lockAnswers(tx, table, account, after);
      const changed = rows.flatMap(({ id, created_at, slot, answer_sealed: sealed }) => {
        const place = placeOfAnswer({ id, slot });
        const answer = parseJson(vault.open(sealed, place)) as SentAnswer;
        const shown = parseJson(answer.text);
        if (!isResource(shown)) return [];
        const erased = eraseResource(shown, subject, { references, others: new Set() });
        if (isSame(shown, erased)) return [];
        // Sealed inside the transaction, because a rotation of the key waits for transactions.
        const text = JSON.stringify({ ...answer, text: JSON.stringify(erased) });
        return { id, created_at, answer_sealed: vault.seal(text, place) };
      });
      return { found: changed.length, write: () => writeAnswers(tx, table, account, changed), next };
    }),
  );

async function eraseEvents(context: Context): Promise<void> {
  for (const { id } of await listAccounts(context.db)) await eraseEventsOf(context, id);
}

function eraseEventsOf({ db, subject, step, references }: Context, account: string): Promise<void> {
  const { id: buyer, cards, externalIdentifier } = subject;
  const traces = { ids: [buyer, ...cards], externalIdentifier };
  return eachBatch(async (after: EventKey | undefined) => {
    const { keys, next } = await listEventKeys(db, account, traces, after);
    if (keys.length === 0) return next;
    return step('events', async ({ db: tx }) => {
      const events = (await lockEvents(tx, account, keys)).flatMap(({ body, ...key }) => {
        const event = parseJson(body) as { target: unknown };
        return isResource(event.target) ? { key, event, target: event.target } : [];
      });
      const targets = events.map(({ target }) => target);
      const others = await othersAmong(tx, targets, subject);
      const changed = events.flatMap(({ key, event, target }) => {
        const erased = eraseResource(target, subject, { references, others });
        return isSame(target, erased) ? [] : { ...key, body: JSON.stringify({ ...event, target: erased }) };
      });
      return { found: changed.length, write: () => writeEvents(tx, account, changed), next };
    });
  });
}

const isSame = (before: object, after: object): boolean => JSON.stringify(before) === JSON.stringify(after);
