// When a failed delivery is retried: a fixed backoff schedule with jitter, and the receiver's Retry-After up to one day.

const second = 1;
const minute = 60 * second;
const hour = 60 * minute;

/** Seconds to wait before each attempt. */
export const waits = [
  0,
  5 * second,
  5 * minute,
  30 * minute,
  2 * hour,
  5 * hour,
  10 * hour,
  14 * hour,
  20 * hour,
  24 * hour,
];

export const switchOffAfterMilliseconds = 5 * 24 * hour * 1000;

const longestRetryAfter = 24 * hour;

/**
 * Seconds until the next attempt after `attempts` have failed; undefined after the last one. `random`, from 0 to 1, makes
 * the wait up to 10 % shorter or longer, so that a receiver does not get all retries at once.
 */
export function nextWait(
  attempts: number,
  retryAfter: number | undefined,
  random: number,
): number | undefined {
  const wait = waits[attempts];
  if (wait === undefined) return undefined;
  const jittered = wait * (0.9 + 0.2 * random);
  return retryAfter === undefined ? jittered : Math.max(jittered, Math.min(retryAfter, longestRetryAfter));
}

/** Retry-After in seconds: a number, or an HTTP date. */
export function readRetryAfter(header: string | undefined, now: Date): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header);
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, (date - now.getTime()) / 1000);
}

export const withJitter = (attempts: number, retryAfter: number | undefined): number | undefined =>
  nextWait(attempts, retryAfter, Math.random());
