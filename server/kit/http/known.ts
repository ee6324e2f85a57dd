// What the steps of the pipeline find out about a request, in their order, and what is left of it when the request ends.
import type { Response } from 'express';
import type { OperationId, operations } from '../../../generated/operations.ts';
import type { Deadline } from '../database/connection.ts';
import type { Db, Owner } from '../database/database.ts';
import type { Accounts, Selection } from '../rules/accounts.ts';

/** Of every request, also one for a page. */
export interface Arrived {
  requestId: string;
  /** How long the request may still wait for the database. */
  deadline: Deadline;
  /** For the steps that find out whose request it is. It counts towards nobody's share of the connections. */
  unownedDb: Db;
}

export interface Routed {
  operation: (typeof operations)[OperationId];
}

/** The key pair behind a verified token. */
export interface Caller {
  keyPairId: string;
  scopes: readonly string[];
  /** What the roles of the pair allow. */
  permissions: readonly string[];
  accounts: Accounts;
  /** Identifies the token for the rate limit. */
  tokenDigest: string;
}

export interface Authenticated {
  caller: Caller;
}

export interface Selected {
  selection: Selection;
}

/** From here on the database knows whose request it is. */
export interface Owned {
  /** Whose share of the connections the request uses: see database/fair-share.ts. */
  owner: Owner;
  db: Db;
}

export interface Validated {
  input: { path: Record<string, unknown>; query: Record<string, unknown>; body: unknown };
}

export interface Refusal {
  code: string;
  reason: string | undefined;
}

/** For what runs when a request ends, such as the access log: any step may have refused it, so everything may be missing. */
export interface Trail
  extends Partial<Pick<Arrived, 'requestId'>>, Partial<Routed>, Partial<Authenticated>, Partial<Selected> {
  traceId?: string | undefined;
  refusal?: Refusal;
  /** Why `/readyz` responds with 503. */
  unready?: string;
  /** Why the response is a 504. */
  outage?: unknown;
}

export const trailOf = (res: Response): Trail => res.locals;
