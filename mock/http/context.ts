// What the steps learn about a request and hand on.
import type { RequestHandler, Response } from 'express';
import type { Selection } from '../../server/http/merchant-account.ts';
import { asMiddleware, type Step as AnyStep } from '../../server/http/step.ts';
import type { MockOperation } from '../operations.ts';
import type { Reading } from '../reading.ts';

export interface Visit {
  reading: Reading;
  requestId: string;
  operation: MockOperation;
  /** The methods of the path, for a 405 that is asked for with Prefer. */
  allow: string;
  caller: { merchantAccountIds: readonly string[] };
  selection: Selection;
  /** Why it was answered so, for the line in the terminal. */
  why: string;
}

export type Step = AnyStep<Visit>;

export const step: (run: Step) => RequestHandler = asMiddleware;

export const visitOf = (res: Response): Visit => res.locals as unknown as Visit;
