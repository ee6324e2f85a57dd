import { randomUUID } from 'node:crypto';
import type { Work } from '../../kit/database/unit-of-work.ts';
import { madeUnlessTaken } from '../../kit/rules/outcomes.ts';
import type { Vault } from '../../kit/secrets/vault.ts';
import { giftCardBin } from './rules.ts';

/** Number and PIN are sealed inside the transaction, because a rotation of the key waits for transactions. */
export async function createGiftCard(
  { db }: Work,
  { number, pin, ...given }: { id?: string; merchant_account_id: string; number: string; pin: string },
  { seal }: Vault,
) {
  const { id = randomUUID(), merchant_account_id: owner } = given;
  const made = await db
    .insertInto('gift_cards')
    .values({
      ...given,
      id,
      ...giftCardBin(number),
      number_sealed: seal(number, { purpose: 'gift-card-number', owner, id }),
      pin_sealed: seal(pin, { purpose: 'gift-card-pin', owner, id }),
    })
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst();
  return madeUnlessTaken(made);
}

/** The whole row: what is left without number and PIN would be of no use. Returns how many. */
export async function deleteGiftCards(
  { db }: Work,
  account: string,
  ids: readonly string[],
): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('gift_cards')
    .where('merchant_account_id', '=', account)
    .where('id', 'in', ids)
    .executeTakeFirst();
  return Number(numDeletedRows);
}
