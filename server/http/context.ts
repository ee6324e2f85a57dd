// What the steps of the pipeline learn about a request and hand on to the next. One place, typed, instead of loose fields.
import type { Request, RequestHandler, Response } from 'express';
import type { OperationId, operations } from '../../generated/operations.ts';

/** Who calls: the key pair behind a verified token. */
export interface Caller {
  keyPairId: string;
  scopes: readonly string[];
  /** What the roles of the pair allow. */
  permissions: readonly string[];
  /** The merchant accounts that the pair reaches; empty means all. */
  merchantAccountIds: readonly string[];
  /** Tells tokens apart for the rate limit. */
  tokenDigest: string;
}

/** The merchant account that a request acts upon: one, or with `*` all that the caller reaches. */
export type Selection = { kind: 'none' } | { kind: 'one'; id: string } | { kind: 'all' };

export interface Context {
  requestId: string;
  operation: (typeof operations)[OperationId];
  caller: Caller;
  selection: Selection;
}

/** A step passes by returning, and refuses by throwing an ApiError. */
export type Step = (context: Context, req: Request, res: Response) => Promise<void> | void;

export const contextOf = (res: Response): Context => res.locals as unknown as Context;

export const step =
  (run: Step): RequestHandler =>
  async (req, res, next) => {
    await run(contextOf(res), req, res);
    next();
  };
