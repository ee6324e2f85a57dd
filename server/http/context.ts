// What the steps of the pipeline learn about a request and hand on to the next. One place, typed, instead of loose fields.
import type { RequestHandler, Response } from 'express';
import type { OperationId, operations } from '../../generated/operations.ts';
import type { Selection } from './merchant-account.ts';
import { asHandler, type Step as AnyStep } from './step.ts';

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

export interface Context {
  requestId: string;
  operation: (typeof operations)[OperationId];
  caller: Caller;
  selection: Selection;
  /** The parameters of the path, once they are validated. */
  path: Record<string, unknown>;
}

export type Step = AnyStep<Context>;

export const step: (run: Step) => RequestHandler = asHandler;

export const contextOf = (res: Response): Context => res.locals as unknown as Context;
