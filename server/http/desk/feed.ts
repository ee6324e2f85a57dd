// What the landing page asks for again and again. Its script in scripts/docs/browser has these types, so this file imports nothing.

export interface Noted {
  requestId: string | undefined;
  method: string;
  /** The path of the contract; parts that the contract does not know are not shown. */
  path: string;
  status: number | 'aborted';
  code?: string | undefined;
  reason?: string | undefined;
  ms: number;
}

/** A request in the list: `number` counts since the start of the server. */
export interface Listed extends Noted {
  number: number;
  at: string;
}

export interface ShownDelivery {
  subscription: string;
  /** The host of its URL. */
  host: string;
  state: string;
  /** The status of the last attempt, if there was one. */
  status: number | null;
  error: string | null;
  attempts: number;
  /** When the next attempt is due, if there will be one. */
  next: string | null;
}

export interface ShownEvent {
  id: string;
  name: string;
  account: string;
  at: string;
  deliveries: ShownDelivery[];
}

export interface Feed {
  version: string;
  kind: 'sandbox' | 'mock';
  firstCall: string;
  requests: Listed[];
  /** The mock has none. */
  events: ShownEvent[] | undefined;
}

// The last requests, for the landing page: what the access log says of them. No body, no query, no token.

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
