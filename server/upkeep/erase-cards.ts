// Erases what is stored of cards: those that an operator names, or those that have expired. As for a buyer: first the cards, so
// that nothing new can show them, then kept answers and events; in small transactions, silent towards webhooks. Transactions and
// their events stay as they are: they are snapshots, and books and support need scheme, BIN and last four digits.
import { sql, type RawBuilder } from 'kysely';
import { listAccountsOf } from '../database/across-accounts.ts';
import { notBack } from '../database/columns.ts';
import type { Db } from '../database/database.ts';
import type { Work } from '../database/unit-of-work.ts';
import type { PageEnd } from '../events/delivery-list.ts';
import { shellWord } from '../installation.ts';
import { listAccounts } from '../resources/merchant-accounts/queries.ts';
import { currentMonth, expiry, isExpired } from '../resources/payment-methods/queries.ts';
import { erasedValues, tableFates, tablesWithTraces } from '../resources/personal.ts';
import { readUuid } from '../rules/values.ts';
import {
  assignments,
  beginErasure,
  changed,
  deleteEvents,
  endErasure,
  eraseAnswers,
  erasureBy,
  hasErasure,
  hasSomething,
  refreshStatistics,
  scannedAtOnce,
  type FoundIds,
} from './erasure-queries.ts';
import { createSteps, type FoundRecords, type StepOptions } from './erasure-steps.ts';

/** `expiredBefore` is MM/YY. Without an account, the cards of all accounts. */
export type ChosenCards = { ids: readonly string[] } | { expiredBefore: string; account: string | undefined };

export interface CardErasure {
  found: FoundRecords;
  /** Of the IDs. */
  alreadyErased: string[];
  unknown: string[];
  /** Whether an earlier run was interrupted and had left nothing that is counted. */
  isContinued: boolean;
}

const fates = tableFates.payment_methods;
const isLeft = hasSomething(fates);

export async function eraseCards(
  chosen: ChosenCards,
  { db, ...options }: StepOptions & { db: Db },
): Promise<CardErasure> {
  const cardsIn = await listPlaces(db, chosen);
  const accounts = [...cardsIn.keys()];
  const existing = [...cardsIn.values()].flatMap((ids) => ids ?? []);
  const marks = marksOf(chosen, existing);
  const { found, step, steps } = createSteps(options, (unit) => beginErasure(unit, marks));
  const isChosen = conditionOf(chosen);
  const erasable = new Set<string>();
  await steps(
    'payment_methods',
    accounts,
    async (account, after) => {
      const page = await listCards(db, account, { isChosen, only: cardsIn.get(account) }, after);
      if ('ids' in chosen) for (const id of page.ids) erasable.add(id);
      return page;
    },
    (unit, account, ids) => eraseRows(unit, account, ids, isChosen),
  );
  for (const account of accounts) {
    const cards = sql<{ id: string }>`
      select id from payment_methods where merchant_account_id = ${account} and ${isChosen}`;
    await step('kept_answers', ({ db: tx }) => eraseAnswers(tx, account, cards));
  }
  await steps(
    'events',
    accounts,
    (account, after) => listEventsOf(db, account, isChosen, after),
    deleteEvents,
  );
  const isBegun = !options.dryRun && (await hasErasure(db, marks));
  if (isBegun) {
    await refreshStatistics(db, tablesWithTraces);
    await options.inStep((unit) => endErasure(unit, marks));
  }
  const known = new Set(existing);
  return {
    found,
    alreadyErased: existing.filter((id) => !erasable.has(id)),
    unknown: 'ids' in chosen ? chosen.ids.filter((id) => !known.has(id)) : [],
    isContinued: isBegun && Object.values(found).every((records) => records === 0),
  };
}

/** The accounts, each with the IDs that can be among them; undefined: all cards of it. */
async function listPlaces(db: Db, chosen: ChosenCards): Promise<Map<string, string[] | undefined>> {
  if ('ids' in chosen) return listAccountsOf(db, 'payment_methods', chosen.ids);
  const accounts = chosen.account === undefined ? await listAccounts(db) : [{ id: chosen.account }];
  return new Map(accounts.map(({ id }) => [id, undefined]));
}

function marksOf(chosen: ChosenCards, existing: readonly string[]): string[] {
  if ('ids' in chosen) return existing.map((id) => erasureBy(`payment-methods erase ${id}`));
  const of = chosen.account === undefined ? '' : ` --merchant-account ${shellWord(chosen.account)}`;
  return [erasureBy(`payment-methods erase --expired-before ${chosen.expiredBefore}${of}`)];
}

/**
 * Also true for cards that are erased: what was made of them may be left. An expired card that waits for its replacement is about to
 * be a valid one.
 */
const conditionOf = (chosen: ChosenCards): RawBuilder<boolean> =>
  'ids' in chosen
    ? sql`id = any(${chosen.ids}::uuid[])`
    : sql`(not ${isLeft} or (not has_replacement and ${isExpired}
        and ${expiry} < ${yearFirst(chosen.expiredBefore)}))`;

/** Before a month that has not begun, there are cards that are valid. */
export async function hasBegun(db: Db, month: string): Promise<boolean> {
  const { rows } = await sql`select where ${yearFirst(month)} <= ${currentMonth}`.execute(db);
  return rows.length > 0;
}

/** YYMM of MM/YY. */
const yearFirst = (month: string): string => month.slice(3) + month.slice(0, 2);

interface Listed {
  isChosen: RawBuilder<boolean>;
  /** If only these can be among them. */
  only: readonly string[] | undefined;
}

/** In pages of all cards: no index has expiration dates, and a search for the next match could go through the whole table. */
async function listCards(
  db: Db,
  account: string,
  { isChosen, only }: Listed,
  after: PageEnd | undefined,
): Promise<FoundIds> {
  const isNext = after ? sql`id > ${after.id}::uuid` : sql`true`;
  const isAmong = only ? sql`id = any(${only}::uuid[])` : sql`true`;
  const { rows } = await sql<PageEnd & { isFound: boolean | null }>`
    select created_at, id, ${isChosen} and ${isLeft} as "isFound"
    from (select * from payment_methods where merchant_account_id = ${account} and ${isAmong} and ${isNext}
      order by id limit ${scannedAtOnce}) as page order by id`.execute(db);
  return {
    ids: rows.flatMap((row) => (row.isFound ? [row.id] : [])),
    next: rows.length < scannedAtOnce ? undefined : rows.at(-1),
  };
}

/** Judged again, because a card may have got a new date meanwhile. */
const eraseRows = (
  { db, now }: Work,
  account: string,
  ids: readonly string[],
  isChosen: RawBuilder<boolean>,
): Promise<number> =>
  changed(
    sql`
    update payment_methods set ${assignments(erasedValues(fates))}, updated_at = ${notBack(now)}
    where merchant_account_id = ${account} and id = any(${ids}::uuid[]) and ${isChosen} and ${isLeft}`.execute(
      db,
    ),
  );

/** Looks through the next events of an account, and returns those that show one of the cards. */
async function listEventsOf(
  db: Db,
  account: string,
  isChosen: RawBuilder<boolean>,
  after: PageEnd | undefined,
): Promise<FoundIds> {
  const isNext = after ? sql`(created_at, id) > (${after.created_at}, ${after.id}::uuid)` : sql`true`;
  const { rows } = await sql<PageEnd & { card: string | null }>`
    select created_at, id,
      case when starts_with(name, 'payment-method.') then body::json -> 'target' ->> 'id' end as card
    from events where merchant_account_id = ${account} and ${isNext}
    order by created_at, id limit ${scannedAtOnce}`.execute(db);
  const cardOf = ({ card }: { card: string | null }) => readUuid(card ?? '');
  const cards = [...new Set(rows.flatMap((row) => cardOf(row) ?? []))];
  const { rows: known } = await sql<{ id: string }>`
    select id from payment_methods
    where merchant_account_id = ${account} and id = any(${cards}::uuid[]) and ${isChosen}`.execute(db);
  const shown = new Set(known.map(({ id }) => id));
  return {
    ids: rows.flatMap((row) => (shown.has(cardOf(row) ?? '') ? [row.id] : [])),
    next: rows.length < scannedAtOnce ? undefined : rows.at(-1),
  };
}
