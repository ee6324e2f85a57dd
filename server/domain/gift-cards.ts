// Gift cards: what their numbers say, and the port to whoever knows their balances.
import type { components } from '../../generated/types.ts';

export type BalanceErrorCode = components['schemas']['BalanceErrorCode'];

export interface GiftCard {
  number: string;
  pin: string;
}

export type Balance =
  | { balance: number; currency: string; expirationDate: string | null }
  | { errorCode: BalanceErrorCode; rawCode: string | null; rawMessage: string | null };

/** One answer per card, in order. It may take its time and answer nonsense: who calls it sets the limit and checks. */
export type GiftCardProvider = (
  cards: readonly GiftCard[],
  signal: AbortSignal,
) => Promise<readonly Balance[]>;

export const giftCardBin = (number: string) => ({
  bin: number.slice(0, 6),
  sub_bin: number.slice(6, 9),
  last4: number.slice(-4),
});
