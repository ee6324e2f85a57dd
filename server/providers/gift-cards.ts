// The interface of a gift card provider, which reads balances.
import type { components } from '../../generated/types.ts';

export interface GiftCard {
  number: string;
  pin: string;
}

export type Balance =
  | { balance: number; currency: string; expirationDate: string | null }
  | {
      errorCode: components['schemas']['BalanceErrorCode'];
      rawCode: string | null;
      rawMessage: string | null;
    };

/** Answers with one balance per card, in order. The failure of one card is its own answer; a rejection fails the whole call. */
export type GiftCardProvider = (
  cards: readonly GiftCard[],
  /** Aborts at the deadline. */
  signal: AbortSignal,
) => Promise<readonly Balance[]>;

/** What a provider answers is not trusted: the contract bounds what callers may be shown. */
export const makesSense = (cards: readonly GiftCard[], balances: readonly Balance[]): boolean =>
  Array.isArray(balances) && balances.length === cards.length && balances.every(isBalance);

const isBalance = (balance: Balance): boolean =>
  'errorCode' in balance ||
  (Number.isSafeInteger(balance.balance) && balance.balance >= 0 && /^[A-Z]{3}$/.test(balance.currency));
