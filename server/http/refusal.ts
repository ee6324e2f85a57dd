// Why a request was refused, in words for the log. What comes from the caller may be anything, a card number in the wrong
// place included, so only words that look like names of ours are shown.
import type { ApiError } from '../errors.ts';

export interface Refusal {
  code: string;
  reason: string | undefined;
}

const mostFaults = 3;
const longestReason = 300;
const longestPath = 100;

// No run of digits that could be part of a card number or a code.
const isHarmless = (word: string) =>
  /^[a-z_](?:[a-z_-]|\d(?!\d\d)){0,39}$/i.test(word) || /^\d{0,3}$/.test(word);

const harmless = (path: string) =>
  path
    .split('/')
    .map((word) => (isHarmless(word) ? word : '…'))
    .join('/');

/** A path that the contract does not know. */
export const unknownPath = (url: string): string => {
  const [path = ''] = url.split('?', 1);
  return harmless(path.slice(0, longestPath)) + (path.length > longestPath ? '…' : '');
};

export function refusalOf({ code, facts }: ApiError): Refusal {
  const faults = [
    ...(facts.details ?? []).map(({ pointer, message }) => [harmless(pointer), message]),
    ...(facts.detail ?? []).map(({ loc, msg }) => [harmless(loc.join('/')), msg]),
  ].map((words) => words.join(' ').trim());
  const more = faults.length > mostFaults ? [`and ${faults.length - mostFaults} more`] : [];
  const reason = facts.reason ?? [...faults.slice(0, mostFaults), ...more].join('; ');
  return { code, reason: reason.slice(0, longestReason) || undefined };
}
