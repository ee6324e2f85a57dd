// What the landing page asks for again and again. Its script in scripts/docs/browser has these types, so they import nothing.

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
