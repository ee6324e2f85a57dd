// The interface of a gift card provider, which reads balances.
import type { components } from '../../generated/types.ts';
import type { ProviderContext } from './cards.ts';

type BalanceErrorCode = components['schemas']['BalanceErrorCode'];

export interface GiftCard {
  number: string;
  pin: string;
}

export type Balance =
  | { balance: number; currency: string; expirationDate: string | null }
  | {
      errorCode: BalanceErrorCode;
      rawCode: string | null;
      rawMessage: string | null;
    };

/** Answers with one balance per card, in order. The failure of one card is its own answer; a rejection fails the whole call. */
export type GiftCardProvider = (
  cards: readonly GiftCard[],
  /** Aborts at the deadline. */
  signal: AbortSignal,
  context: ProviderContext,
) => Promise<readonly Balance[]>;

/** What a provider answers is not trusted: the contract bounds what callers may be shown. */
export const makesSense = (cards: readonly GiftCard[], balances: readonly Balance[]): boolean =>
  Array.isArray(balances) && balances.length === cards.length && balances.every(isBalance);

const codes: Readonly<Record<BalanceErrorCode, true>> = {
  invalid_gift_card: true,
  expired_card: true,
  inactive_card: true,
  incorrect_currency: true,
  insufficient_funds: true,
  suspected_fraud: true,
  operation_canceled: true,
  invalid_service_credentials: true,
  invalid_service_configuration: true,
  service_error: true,
  service_network_error: true,
  unknown_error: true,
};
const isTextOrNull = (value: unknown) => value === null || typeof value === 'string';

function isBalance(given: unknown): boolean {
  if (typeof given !== 'object' || given === null) return false;
  const { errorCode, rawCode, rawMessage, balance, currency, expirationDate } = given as Record<
    string,
    unknown
  >;
  if (errorCode !== undefined)
    return (
      typeof errorCode === 'string' &&
      Object.hasOwn(codes, errorCode) &&
      isTextOrNull(rawCode) &&
      isTextOrNull(rawMessage)
    );
  return (
    Number.isSafeInteger(balance) &&
    Number(balance) >= 0 &&
    /^[A-Z]{3}$/.test(String(currency)) &&
    (expirationDate === null ||
      (typeof expirationDate === 'string' && /^\d{4}-\d\d-\d\dT.*(Z|[+-]\d\d:\d\d)$/.test(expirationDate)))
  );
}
