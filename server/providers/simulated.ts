// The sandbox's simulators. They stand behind the same interfaces as the providers of a real installation; the tables of
// values are in the contract's introduction.
import { setTimeout as wait } from 'node:timers/promises';
import { noDescription, type DescribeCard, type VerifyCard } from './cards.ts';
import type { GiftCardProvider } from './gift-cards.ts';
import {
  sandboxBalance,
  sandboxCards,
  sandboxIssuer,
  sandboxStatus,
  slowMilliseconds,
  wholeCallPins,
} from './simulated-values.ts';

export const simulatedGiftCards: GiftCardProvider = async (cards, signal) => {
  const pins = new Set(cards.map(({ pin }) => pin));
  if (pins.has(wholeCallPins.silence)) await wait(60_000, undefined, { signal });
  if (pins.has(wholeCallPins.slow)) await wait(slowMilliseconds, undefined, { signal });
  // An invalid answer: no balance for any of the cards.
  if (pins.has(wholeCallPins.nonsense)) return [];
  return cards.map(sandboxBalance);
};

export const describeSimulatedCard: DescribeCard = (number) => {
  const card = sandboxCards[number];
  return card ? { card_type: card.cardType, card_issuer_name: sandboxIssuer } : noDescription;
};

export const verifySimulatedCard: VerifyCard = ({ number }) =>
  Promise.resolve({ status: sandboxStatus(number) });
