import { giftCardBin } from '../domain/gift-cards.ts';
import type { Vault } from '../domain/vault.ts';
import { insertGiftCard } from '../store/gift-cards.ts';
import type { Work } from './unit-of-work.ts';

/** Number and PIN are sealed inside the transaction, because a rotation of the key waits for transactions. */
export const createGiftCard = (
  { db }: Work,
  { number, pin, ...columns }: { id?: string; merchant_account_id: string; number: string; pin: string },
  vault: Vault,
) =>
  insertGiftCard(db, {
    ...columns,
    ...giftCardBin(number),
    number_sealed: vault.seal(number, 'gift-card'),
    pin_sealed: vault.seal(pin, 'gift-card'),
  });
