import { sql } from 'kysely';
import type { Db, Tx } from '../../kit/database/database.ts';
import type { BuyerRow } from './table.ts';

/** One of the two identifiers of a buyer. */
type BuyerKey = { id: string } | { external_identifier: string };

/**
 * To store something for a buyer. Until the transaction ends the buyer cannot be erased, so that nothing is stored for it
 * behind the back of `payments buyers erase`. An erased one is not found.
 */
export function lockBuyer(db: Tx, account: string, by: BuyerKey): Promise<BuyerRow | undefined> {
  const query = db
    .selectFrom('buyers')
    .selectAll()
    .where('merchant_account_id', '=', account)
    .where('erased_at', 'is', null)
    .forShare();
  return 'id' in by
    ? query.where('id', '=', by.id).executeTakeFirst()
    : query.where('external_identifier', '=', by.external_identifier).executeTakeFirst();
}

/** `search` is an ID, or part of the reference, the name or the email address. */
export const listBuyers = (
  db: Db,
  account: string,
  { search, limit }: { search?: string | undefined; limit: number },
) => {
  const query = db
    .selectFrom('buyers')
    .selectAll()
    .where('merchant_account_id', '=', account)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit);
  if (search === undefined) return query.execute();
  const part = search.toLowerCase();
  return query
    .where(
      sql<boolean>`(id::text = ${part} or position(${part} in lower(concat_ws(E'\\n', external_identifier,
        display_name, billing_details->>'email_address'))) > 0)`,
    )
    .execute();
};
