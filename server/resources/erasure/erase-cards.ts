// Erases what is stored of cards: those that an operator names, or those that have expired. As for a buyer: first the cards, so
// that nothing new can show them, then kept answers and events; in small transactions, silent towards webhooks. Transactions and
// their events stay as they are: they are snapshots, and books and support need scheme, BIN and last four digits.
import { sql, type RawBuilder } from 'kysely';
import { listAccountsOf, listAccountsWith } from '../../kit/database/across-accounts.ts';
import { notBack } from '../../kit/database/columns.ts';
import type { Db } from '../../kit/database/database.ts';
import { requireRightToErase } from '../../kit/database/grants.ts';
import type { Work } from '../../kit/database/unit-of-work.ts';
import { shellWord } from '../../kit/installation.ts';
import { erasedValues } from '../../kit/rules/erasure.ts';
import { readUuid } from '../../kit/rules/values.ts';
import { paymentMethods } from '../payment-methods/facts.ts';
import { currentMonth, expiry, isExpired } from '../payment-methods/queries.ts';
import {
  everywhere,
  isIn,
  nextEvents,
  noteOf,
  pageOf,
  scannedAtOnce,
  type FoundPage,
  type FoundRow,
  type Place,
} from './pages.ts';
import {
  assignments,
  beginErasure,
  countChanged,
  deleteEvents,
  endErasure,
  eraseAnswers,
  erasureBy,
  hasErasure,
  hasSomething,
} from './queries.ts';
import { refreshStatistics, tablesWithTraces } from './statistics.ts';
import { createSteps, type FoundRecords, type StepOptions } from './steps.ts';

/** `expiredBefore` is MM/YY. Without an account, the cards of all accounts. */
export type ChosenCards = { ids: readonly string[] } | { expiredBefore: string; account: string | undefined };

export interface CardErasure {
  found: FoundRecords;
  alreadyErased: string[];
  unknown: string[];
  /** Whether an earlier run was interrupted and had left nothing that is counted. */
  isContinued: boolean;
}

const rules = paymentMethods.erasure;
const isLeft = hasSomething(rules);

export async function eraseCards(
  chosen: ChosenCards,
  { db, ...options }: StepOptions & { db: Db },
): Promise<CardErasure> {
  await requireRightToErase(db, tablesWithTraces);
  const places = await listPlaces(db, chosen);
  const existing = places.flatMap(({ only = [] }) => only);
  const marks = marksOf(chosen, existing);
  const { found, step, steps } = createSteps(options, (unit) => beginErasure(unit, marks));
  const isChosen = conditionOf(chosen);
  const erasable = new Set<string>();
  await steps(
    'payment_methods',
    places,
    async (place, after) => {
      const page = await listCards(db, place, isChosen, after);
      if ('ids' in chosen) for (const { id } of page.rows) erasable.add(id);
      return page;
    },
    (unit, account, ids) => eraseRows(unit, account, ids, isChosen),
  );
  found.kept_answers = 0;
  for (const account of await listAccountsWithAnswers(db, places, isChosen)) {
    const cards = sql<{ id: string }>`
      select id from payment_methods where merchant_account_id = ${account} and ${isChosen}`;
    await step('kept_answers', ({ db: tx }) => eraseAnswers(tx, account, cards));
  }
  await steps('events', places, (place, after) => listEventsOf(db, place, isChosen, after), deleteEvents);
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

/** With the IDs that can be among the cards there; without: all of them. */
type PlaceOfCards = Place & { only?: readonly string[] };

async function listPlaces(db: Db, chosen: ChosenCards): Promise<PlaceOfCards[]> {
  if (!('ids' in chosen)) return [chosen.account === undefined ? everywhere : { account: chosen.account }];
  const byAccount = await listAccountsOf(db, 'payment_methods', chosen.ids);
  return [...byAccount].map(([account, only]) => ({ account, only }));
}

/** Accounts of these places with kept answers that show one of the cards. */
async function listAccountsWithAnswers(
  db: Db,
  places: readonly Place[],
  isChosen: RawBuilder<boolean>,
): Promise<string[]> {
  const named = places.flatMap((place) => ('account' in place ? [place.account] : []));
  if (named.length === places.length) return named;
  return listAccountsWith(
    db,
    'idempotency_keys',
    sql`answer_sealed is not null and exists (
      select from payment_methods
      where payment_methods.merchant_account_id = idempotency_keys.merchant_account_id and id = resource_id and ${isChosen})`,
  );
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

const yearFirst = (month: string): string => month.slice(3) + month.slice(0, 2);

/** In pages of all cards: no index has expiration dates, and a search for the next match could go through the whole table. */
async function listCards(
  db: Db,
  place: PlaceOfCards,
  isChosen: RawBuilder<boolean>,
  after: FoundRow | undefined,
): Promise<FoundPage> {
  const isNext = after ? sql`(merchant_account_id, id) > (${after.account}, ${after.id}::uuid)` : sql`true`;
  const isAmong = place.only ? sql`id = any(${place.only}::uuid[])` : sql`true`;
  const { rows } = await sql<FoundRow & { isFound: boolean | null }>`
    select merchant_account_id as account, created_at, id, ${isChosen} and ${isLeft} as "isFound"
    from payment_methods where ${isIn(place)} and ${isAmong} and ${isNext}
    order by merchant_account_id, id limit ${scannedAtOnce} ${noteOf(place)}`.execute(db);
  return pageOf(rows);
}

/** Judged again, because a card may have got a new date meanwhile. */
function eraseRows(
  { db, now }: Work,
  account: string,
  ids: readonly string[],
  isChosen: RawBuilder<boolean>,
): Promise<number> {
  const erase = sql`
    update payment_methods set ${assignments(erasedValues(rules))}, updated_at = ${notBack(now)}
    where merchant_account_id = ${account} and id = any(${ids}::uuid[]) and ${isChosen} and ${isLeft}`;
  return countChanged(db, erase);
}

/** Looks through the next events, and returns those that show one of the cards. */
async function listEventsOf(
  db: Db,
  place: Place,
  isChosen: RawBuilder<boolean>,
  after: FoundRow | undefined,
): Promise<FoundPage> {
  const shown = sql`case when starts_with(name, 'payment-method.') then body::json -> 'target' ->> 'id' end as card`;
  const { rows } = await sql<FoundRow & { card: string | null }>`
    ${nextEvents(place, shown, after)} ${noteOf(place)}`.execute(db);
  const cardOf = ({ card }: { card: string | null }) => readUuid(card ?? '');
  const cards = rows.filter((row) => cardOf(row) !== undefined);
  // An event and its card belong to the same account.
  const { rows: known } = await sql<{ id: string }>`
    select payment_methods.id from unnest(${cards.map(({ account }) => account)}::text[], ${cards.map(cardOf)}::uuid[]) as shown (account, card)
    join payment_methods on merchant_account_id = account and id = card
    where ${isChosen} ${noteOf(place)}`.execute(db);
  const chosen = new Set(known.map(({ id }) => id));
  return pageOf(rows.map((row) => ({ ...row, isFound: chosen.has(cardOf(row) ?? '') })));
}
