// The sandbox's gift card provider. The number says the balance, the PIN what happens; the contract's introduction has the
// table.
import { setTimeout as wait } from 'node:timers/promises';
import { sandboxBalance, slowMilliseconds, wholeCallPins } from './simulated-values.ts';
import type { GiftCardProvider } from '../domain/gift-cards.ts';

export const sandboxGiftCards: GiftCardProvider = async (cards, signal) => {
  const pins = new Set(cards.map(({ pin }) => pin));
  if (pins.has(wholeCallPins.silence)) await wait(60_000, undefined, { signal });
  if (pins.has(wholeCallPins.slow)) await wait(slowMilliseconds, undefined, { signal });
  // Nonsense: no answer for any of the cards.
  if (pins.has(wholeCallPins.nonsense)) return [];
  return cards.map(sandboxBalance);
};
