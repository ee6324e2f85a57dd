// The sandbox's gift card provider. The number says the balance, the PIN what happens; the contract's introduction has the
// table.
import { setTimeout as wait } from 'node:timers/promises';
import type { Balance, BalanceErrorCode, GiftCard, GiftCardProvider } from '../domain/gift-cards.ts';

// In the order of the contract's list: 9001 is the first.
const failures: [code: BalanceErrorCode, message: string][] = [
  ['invalid_gift_card', 'Unknown card or wrong PIN'],
  ['expired_card', 'The card has expired'],
  ['inactive_card', 'The card is not active'],
  ['incorrect_currency', 'The currency is not supported'],
  ['insufficient_funds', 'The card is empty'],
  ['suspected_fraud', 'Refused by fraud rules'],
  ['operation_canceled', 'The look-up was canceled'],
  ['invalid_service_credentials', 'Wrong credentials'],
  ['invalid_service_configuration', 'Not configured'],
  ['service_error', 'Internal error'],
  ['service_network_error', 'Connection reset'],
  ['unknown_error', 'Error 0x7f'],
];

const slowMilliseconds = 2_000;

export const sandboxGiftCards: GiftCardProvider = async (cards, signal) => {
  const pins = new Set(cards.map(({ pin }) => pin));
  if (pins.has('9504')) await wait(60_000, undefined, { signal });
  if (pins.has('9100')) await wait(slowMilliseconds, undefined, { signal });
  // Nonsense: no answer for any of the cards.
  if (pins.has('9502')) return [];
  return cards.map(lookUp);
};

function lookUp({ number, pin }: GiftCard): Balance {
  const failure = /^9\d{3}$/.test(pin) ? failures[Number(pin) - 9001] : undefined;
  const known = /^9999(\d{8})\d{4}$/.exec(number);
  const chosen = failure ?? (known ? undefined : failures[0]);
  if (chosen) return { errorCode: chosen[0], rawCode: failure ? pin : '9001', rawMessage: chosen[1] };
  return { balance: Number(known?.[1]), currency: 'USD', expirationDate: '2029-12-31T00:00:00.000Z' };
}
