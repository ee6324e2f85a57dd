// The database of a request, at two moments: while nobody knows whose request it is, and once it has an owner, whose share of the
// connections it uses from then on (database/fair-share.ts).
import { newDeadline } from '../database/connection.ts';
import type { Database, Owner } from '../database/database.ts';
import type { Arrived, Authenticated, Owned, Selected } from './known.ts';
import type { Passed, Step } from './pipeline.ts';

type DbFor = Database['dbFor'];

export const createUnowned =
  (dbFor: DbFor): Step<Passed<'started'>, Omit<Arrived, 'requestId'>> =>
  () => {
    const deadline = newDeadline();
    return { deadline, unownedDb: dbFor({ deadline }) };
  };

export const createOwned =
  (dbFor: DbFor): Step<Pick<Arrived, 'deadline'> & Authenticated & Selected, Owned> =>
  (known) => {
    const { deadline } = known;
    const owner = ownerOf(known);
    return { owner, db: dbFor({ deadline, owner }) };
  };

function ownerOf({ caller, selection }: Authenticated & Selected): Owner {
  const keyPair = caller.keyPairId;
  if (selection.kind === 'one') return { keyPair, account: selection.id };
  // A pair with access to one account only.
  const accounts = selection.kind === 'many' && selection.accounts !== 'all' ? selection.accounts.only : [];
  return { keyPair, account: accounts.length === 1 ? accounts[0] : undefined };
}
