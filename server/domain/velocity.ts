// Limits on what may be tried, for cards that are stored and for PINs of gift cards. Whoever knows BIN and last four digits of a card has about a thousand numbers to try, and the
// fingerprint in an answer tells whether a guess was right. So only few different numbers may be tried that are alike in what
// the API shows of them, and only few different PINs of a gift card. Both are remembered as keyed digests only.
import { createHmac } from 'node:crypto';
import { binOf, lastFour } from './cards.ts';
import type { Keys } from './vault.ts';

export interface TriedNumber {
  /** Numbers of one account that are alike in BIN and last four digits, or the PINs of a gift card. */
  bucket: string;
  /** The number, or the PIN. */
  number: string;
}

/** One for each key: all of them are counted, so that a rotation of the key does not start the count again. */
export type VelocityDigests = (account: string, number: string) => TriedNumber[];

/** Keys of their own, so that these digests can never be compared with fingerprints. */
const digestsWith = (keys: Keys) =>
  keys.map((key) => {
    const own = createHmac('sha256', key).update('velocity').digest();
    return (...parts: string[]) =>
      createHmac('sha256', own).update(JSON.stringify(parts)).digest('base64url');
  });

export function createVelocityDigests(keys: Keys): VelocityDigests {
  const digests = digestsWith(keys);
  return (account, number) =>
    digests.map((digest) => ({
      bucket: digest('bucket', account, binOf(number), lastFour(number)),
      number: digest('number', account, number),
    }));
}

export type PinDigests = (account: string, card: { number: string; pin: string }) => TriedNumber[];

export function createPinDigests(keys: Keys): PinDigests {
  const digests = digestsWith(keys);
  return (account, { number, pin }) =>
    digests.map((digest) => ({
      bucket: digest('gift card', account, number),
      number: digest('pin', account, number, pin),
    }));
}

/** Different PINs of a gift card in an account, as `POST /gift-cards/balances` says. */
export const pinLimit: NumberLimit = { limit: 10, windowSeconds: 3600 };

/** How many different numbers were tried in how long. */
export interface NumberLimit {
  limit: number;
  windowSeconds: number;
}

export type Verdict =
  | { passes: true }
  /** `notes`: whether the number must be remembered although it is refused. */
  | { passes: false; notes: boolean; retryMilliseconds: number };

/**
 * `seen`: the numbers of the bucket in the window. The number that exceeds the limit is remembered, and closes the bucket for
 * all numbers. If known numbers still passed then, they would differ from all guesses, and each guess would be an answer.
 */
export function judgeNumber(
  seen: readonly { number: string; at: Date }[],
  number: string,
  now: Date,
  { limit, windowSeconds }: NumberLimit,
): Verdict {
  const isClosed = seen.length > limit;
  const isKnown = seen.some((one) => one.number === number);
  if (!isClosed && (isKnown || seen.length < limit)) return { passes: true };
  const times = seen.map(({ at }) => at.getTime());
  if (!isClosed) times.push(now.getTime());
  times.sort((a, b) => a - b);
  // When a new number is accepted again. The same for a known one, of which nobody must learn that it is known.
  const freeing = times[times.length - limit] ?? now.getTime();
  const retryMilliseconds = Math.max(0, freeing + windowSeconds * 1000 - now.getTime());
  return { passes: false, notes: !isClosed, retryMilliseconds };
}
