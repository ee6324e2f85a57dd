// What the landing page asks for again and again. Its script in scripts/dashboard/browser has these types, so this file imports nothing.

export interface Feed {
  version: string;
  kind: 'sandbox' | 'mock';
  firstCall: string;
  requests: FeedRequest[];
  /** The number of the last request. It is below that of an earlier feed if the server was started again. */
  last: number;
  /** The mock has none. */
  events: FeedEvent[] | undefined;
}

export interface FeedRequest {
  /** Counts since the start of the server. */
  number: number;
  at: string;
  requestId: string | undefined;
  operation?: string | undefined;
  method: string;
  /** The path of the contract; parts that the contract does not know are not shown. */
  path: string;
  /** Decoded, with card numbers and tokens masked. Only of an operation. */
  query?: string | undefined;
  status: number | 'aborted';
  code?: string | undefined;
  reason?: string | undefined;
  ms: number;
}

export interface FeedEvent {
  id: string;
  name: string;
  account: string;
  at: string;
  /** The JSON that receivers get. */
  payload: string;
  deliveries: FeedDelivery[];
}

export interface FeedDelivery {
  subscription: string;
  host: string;
  state: string;
  status: number | null;
  error: string | null;
  /** What the receiver said, if that was no 2xx. */
  answer: string | null;
  attempts: number;
  /** When the next attempt is due, if there will be one. */
  next: string | null;
}

/** The last requests: what the access log says of them, and the query. No body, no token. */
export interface RequestFeed {
  note: (request: Omit<FeedRequest, 'number' | 'at'>) => void;
  /** Those with a number above `after`, oldest first, and the number of the last one. */
  since: (after: number) => { requests: FeedRequest[]; last: number };
}

const mostKept = 100;

export function createRequestFeed(now: () => Date): RequestFeed {
  const kept: FeedRequest[] = [];
  let number = 0;
  return {
    note(request) {
      number += 1;
      kept.push({ ...request, number, at: now().toISOString() });
      if (kept.length > mostKept) kept.shift();
    },
    since: (after) => ({ requests: kept.filter((request) => request.number > after), last: number }),
  };
}
