// Limits on what may be tried, for cards that are stored and for PINs of gift cards. Whoever knows BIN and last four digits of
// a card has about a thousand numbers to try, and the fingerprint in an answer tells whether a guess was right. So only few
// different numbers may be tried that are alike in what the API shows of them, and only few different PINs of a gift card. Both
// are remembered as keyed digests only.
import { createHmac } from 'node:crypto';
import type { DatabaseTime } from '../../kit/rules/database-time.ts';
import type { DigestKeys } from '../../kit/secrets/derive-keys.ts';
import { binOf, lastFour } from '../payment-methods/rules.ts';

export interface TriedNumber {
  /** Numbers of one account that are alike in BIN and last four digits, or the PINs of a gift card. */
  bucket: string;
  /** The number, or the PIN. */
  number: string;
}

const digest = (keys: DigestKeys, ...parts: string[]): string =>
  createHmac('sha256', keys('velocity')).update(JSON.stringify(parts)).digest('base64url');

export const triedNumber = (keys: DigestKeys, number: string): TriedNumber => ({
  bucket: digest(keys, 'bucket', binOf(number), lastFour(number)),
  number: digest(keys, 'number', number),
});

export const triedPin = (
  keys: DigestKeys,
  { number, pin }: { number: string; pin: string },
): TriedNumber => ({
  bucket: digest(keys, 'gift card', number),
  number: digest(keys, 'pin', number, pin),
});

/** Different PINs of a gift card in an account, as `POST /gift-cards/balances` says. */
export const pinLimit: NumberLimit = { limit: 10, windowSeconds: 3600 };

/** How many different numbers were tried in how long. */
export interface NumberLimit {
  limit: number;
  windowSeconds: number;
}

/**
 * `times`: when the numbers of a bucket were tried, in milliseconds. The number that exceeds the limit closes the bucket for
 * all numbers. If known numbers still passed then, they would differ from all guesses, and each guess would be an answer.
 */
export function waitOf(
  times: readonly number[],
  { limit, windowSeconds }: NumberLimit,
  now: DatabaseTime,
): number | undefined {
  const forgotten = now.getTime() - windowSeconds * 1000;
  const recent = times.filter((time) => time > forgotten).toSorted((a, b) => a - b);
  if (recent.length <= limit) return undefined;
  // When a new number is accepted again. A known number has the same wait, so that nobody learns that it is known.
  return (recent[recent.length - limit] ?? 0) - forgotten;
}
