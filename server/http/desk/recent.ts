// The last requests, for the landing page: what the access log says of them. No body, no query, no token.
import type { Listed, Noted } from './feed.ts';

export interface Recent {
  note: (request: Noted) => void;
  /** Those with a number above `after`, oldest first. */
  since: (after: number) => Listed[];
}

const mostKept = 100;

export function createRecent(now: () => Date): Recent {
  const kept: (Noted & { number: number; at: Date })[] = [];
  let number = 0;
  return {
    note(request) {
      number += 1;
      kept.push({ ...request, number, at: now() });
      if (kept.length > mostKept) kept.shift();
    },
    since: (after) =>
      kept
        .filter((request) => request.number > after)
        .map((request) => ({ ...request, at: request.at.toISOString() })),
  };
}
