import type { components } from '../../../generated/types.ts';
import type { Given } from '../../kit/database/columns.ts';
import type { Work } from '../../kit/database/unit-of-work.ts';
import { madeUnlessTaken } from '../../kit/rules/outcomes.ts';

type Buyer = components['schemas']['Buyer'];

/** Without an ID, the database makes one. */
export interface NewBuyer extends Given<Omit<Buyer, 'type' | 'id' | 'created_at' | 'updated_at'>> {
  id?: string;
}

/** The external identifier, or the ID, may be taken. */
export async function createBuyer({ db }: Work, buyer: NewBuyer) {
  const made = await db
    .insertInto('buyers')
    .values({
      ...buyer,
      billing_details: buyer.billing_details ? JSON.stringify(buyer.billing_details) : null,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst();
  return madeUnlessTaken(made);
}
