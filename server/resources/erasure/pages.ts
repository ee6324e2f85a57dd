// How an erasure looks for what to erase: in pages of all rows, because a search for the next match could go through the whole table in
// one statement.
import { sql, type RawBuilder } from 'kysely';
import { acrossAccounts } from '../../kit/database/across-accounts.ts';
import type { PageEnd } from '../../kit/events/delivery-list.ts';

export const scannedAtOnce = 2000;

/** Where to look: in one account, or in all others together, because thousands of them may have nothing. */
export type Place = { account: string } | { except: string };

/** No account has an empty ID. */
export const everywhere: Place = { except: '' };

export const isIn = (place: Place): RawBuilder<boolean> =>
  'account' in place
    ? sql<boolean>`merchant_account_id = ${place.account}`
    : sql<boolean>`merchant_account_id <> ${place.except}`;

export const noteOf = (place: Place): RawBuilder<unknown> =>
  'account' in place ? sql`` : acrossAccounts('next-rows');

export interface FoundRow extends PageEnd {
  account: string;
}

/** `next` is undefined after the last page. */
export interface FoundPage {
  rows: FoundRow[];
  next: FoundRow | undefined;
}

/** Of all rows that a page looked through. */
export const pageOf = (looked: readonly (FoundRow & { isFound: boolean | null })[]): FoundPage => ({
  rows: looked.filter(({ isFound }) => isFound),
  next: looked.length < scannedAtOnce ? undefined : looked.at(-1),
});

export const nextEvents = (
  place: Place,
  columns: RawBuilder<unknown>,
  after: FoundRow | undefined,
): RawBuilder<unknown> => {
  const isNext = after
    ? sql`(merchant_account_id, created_at, id) > (${after.account}, ${after.created_at}, ${after.id}::uuid)`
    : sql`true`;
  return sql`
    select merchant_account_id as account, created_at, id, ${columns} from events where ${isIn(place)} and ${isNext}
    order by merchant_account_id, created_at, id limit ${scannedAtOnce}`;
};
