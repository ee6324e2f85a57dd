import type { components } from '../../../generated/types.ts';
import type { Balance } from '../../providers/gift-cards.ts';

export const giftCardBin = (number: string) => ({
  bin: number.slice(0, 6),
  sub_bin: number.slice(6, 9),
  last4: number.slice(-4),
});

type Item = components['schemas']['GiftCardBalance'];

interface BalanceFacts {
  id: string | null;
  merchant_account_id: string;
  /** Undefined for a stored card that this account does not have. */
  number: string | undefined;
  balance: Balance | undefined;
}

export function presentGiftCardBalance({ id, merchant_account_id, number, balance }: BalanceFacts): Item {
  const numbers = number === undefined ? { bin: null, sub_bin: null, last4: null } : giftCardBin(number);
  const item = { type: 'gift-card' as const, id, merchant_account_id, ...numbers };
  if (balance && 'balance' in balance) {
    return {
      ...item,
      expiration_date: balance.expirationDate,
      balance: balance.balance,
      currency: balance.currency,
    };
  }
  return {
    ...item,
    expiration_date: null,
    balance: null,
    currency: null,
    balance_error_code: balance?.errorCode ?? 'invalid_gift_card',
    balance_raw_error_code: balance?.rawCode ?? null,
    balance_raw_error_message: balance?.rawMessage ?? null,
  };
}
