// The sandbox's simulators. They stand behind the same interfaces as the providers of a real installation; the tables of
// values are in the contract's introduction.
import { setTimeout as wait } from 'node:timers/promises';
import type { components } from '../../generated/types.ts';
import { noDescription, type CardDescription, type VerifyCard } from './cards.ts';
import type { Balance, GiftCard, GiftCardProvider } from './gift-cards.ts';

export const simulatedGiftCards: GiftCardProvider = async (cards, signal) => {
  const pins = new Set(cards.map(({ pin }) => pin));
  if (pins.has(wholeCallPins.silence)) await wait(60_000, undefined, { signal });
  if (pins.has(wholeCallPins.slow)) await wait(slowMilliseconds, undefined, { signal });
  // An invalid answer: no balance for any of the cards.
  if (pins.has(wholeCallPins.nonsense)) return [];
  return cards.map(sandboxBalance);
};

export const describeSimulatedCard = (number: string): CardDescription => {
  const card = sandboxCards[number];
  return card ? { card_type: card.cardType, card_issuer_name: sandboxIssuer } : noDescription;
};

export const verifySimulatedCard: VerifyCard = ({ number }) =>
  Promise.resolve({ status: sandboxStatus(number) });

// Values that choose what happens in the sandbox, as the contract's introduction documents them. The mock uses them too; all
// card numbers are published test numbers of the schemes.

type BalanceErrorCode = components['schemas']['BalanceErrorCode'];

interface SandboxCard {
  status: components['schemas']['PaymentMethodStatus'];
  cardType: 'credit' | 'debit';
}

const sandboxIssuer = 'Sandbox Bank';

export const sandboxCards: Readonly<Record<string, SandboxCard>> = {
  '4111111111111111': { status: 'succeeded', cardType: 'credit' },
  '5555555555554444': { status: 'succeeded', cardType: 'credit' },
  '378282246310005': { status: 'succeeded', cardType: 'credit' },
  '4012888888881881': { status: 'processing', cardType: 'credit' },
  '5105105105105100': { status: 'buyer_approval_required', cardType: 'debit' },
  // As if its issuer declined it.
  '4000000000000002': { status: 'failed', cardType: 'credit' },
};

export const sandboxStatus = (number: string): SandboxCard['status'] =>
  sandboxCards[number]?.status ?? 'succeeded';

export const wholeCallPins = { slow: '9100', nonsense: '9502', silence: '9504' } as const;

export const slowMilliseconds = 2_000;

// In the order of the contract's list: PIN 9001 is the first. The raw codes are no PINs, because those are masked.
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

export function sandboxBalance({ number, pin }: GiftCard): Balance {
  const failure = /^9\d{3}$/.test(pin) ? failures[Number(pin) - 9001] : undefined;
  const known = /^9999(\d{8})\d{4}$/.exec(number);
  const chosen = failure ?? (known ? undefined : failures[0]);
  if (chosen)
    return { errorCode: chosen[0], rawCode: `E${failures.indexOf(chosen) + 1}`, rawMessage: chosen[1] };
  return { balance: Number(known?.[1]), currency: 'USD', expirationDate: '2029-12-31T00:00:00.000Z' };
}
