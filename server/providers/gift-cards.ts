// The interface of a gift card provider, which reads balances. What it returns is not trusted: the contract bounds what callers may be
// shown, and callers with a public token must not learn number and PIN of a stored card.
import type { components } from '../../generated/types.ts';
import { readDateTime } from '../kit/rules/values.ts';
import { callProvider, shortText, type NoteCall } from './call.ts';
import type { ProviderContext } from './cards.ts';
import { createMask, type Mask } from './mask.ts';

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

export const guardGiftCards =
  (giftCards: GiftCardProvider, note?: NoteCall) =>
  (cards: readonly GiftCard[], context: ProviderContext): Promise<Balance[]> =>
    callProvider(
      { provider: 'giftCards', secrets: secretsOf(cards), note },
      // Copies, because it may change what it is given, and the answer shows parts of the number.
      (signal) =>
        giftCards(
          cards.map((card) => ({ ...card })),
          signal,
          context,
        ),
      (balances) => readBalances(cards, balances),
    );

const secretsOf = (cards: readonly GiftCard[]) => cards.flatMap(({ number, pin }) => [number, pin]);

export function readBalances(cards: readonly GiftCard[], given: unknown): Balance[] {
  if (!Array.isArray(given) || given.length !== cards.length)
    throw new Error(`the gift card provider returned no list of ${cards.length} balances`);
  // Not `given.map`, which skips the holes of a list.
  return cards.map((card, index) => {
    const balance: unknown = given[index];
    const fault = (why: string) =>
      new Error(`the gift card provider returned nonsense: balance ${index + 1} of ${cards.length} ${why}`);
    if (typeof balance !== 'object' || balance === null) throw fault('is no object');
    const others = cards.filter((_, place) => place !== index);
    return readBalance(balance, maskFor(card, others), fault);
  });
}

/**
 * For what is said of one card. The PIN of another one is masked only beside its number: otherwise a caller could name a stored card, and
 * beside it numbers of its own that end with guesses. An issuer that repeats last digits would then tell which guess was masked.
 */
const maskFor =
  ({ number, pin }: GiftCard, others: readonly GiftCard[]): Mask =>
  (text) => {
    const named = others.filter((other) => createMask([other.number])(text) !== text);
    return createMask([number, pin, ...secretsOf(named)])(text);
  };

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
const isCode = (given: unknown): given is BalanceErrorCode =>
  typeof given === 'string' && Object.hasOwn(codes, given);

/** Each property is read once, because it may be a getter. */
function readBalance(
  given: Partial<Record<'errorCode' | 'rawCode' | 'rawMessage', unknown>> &
    Partial<Record<'balance' | 'currency' | 'expirationDate', unknown>>,
  mask: Mask,
  fault: (why: string) => Error,
): Balance {
  const { errorCode } = given;
  // Also with a balance beside it: a look-up that failed halfway has none.
  if (errorCode !== undefined) {
    if (!isCode(errorCode)) throw fault('has an errorCode that the contract does not have');
    const { rawCode, rawMessage } = given;
    const read = (name: string, text: unknown) => {
      if (text === null) return null;
      if (typeof text !== 'string') throw fault(`has a ${name} that is neither a text nor null`);
      return shortText(mask(text.slice(0, longestRead)));
    };
    return { errorCode, rawCode: read('rawCode', rawCode), rawMessage: read('rawMessage', rawMessage) };
  }
  const { balance, currency, expirationDate } = given;
  if (typeof balance !== 'number' || !Number.isSafeInteger(balance) || balance < 0)
    throw fault('has neither an errorCode nor a balance that is a whole number');
  if (typeof currency !== 'string' || !/^[A-Z]{3}$/.test(currency))
    throw fault('has a currency that is not three capital letters');
  if (expirationDate === null) return { balance, currency, expirationDate };
  const expires = typeof expirationDate === 'string' ? readDateTime(expirationDate) : undefined;
  if (!expires) throw fault('has an expirationDate that is neither null nor a date-time that exists');
  return { balance, currency, expirationDate: expires.toISOString() };
}

/** More than is shown, so that a value at the end is found before it is cut. */
const longestRead = 2_000;
