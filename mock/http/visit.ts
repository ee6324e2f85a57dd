// What the steps learn about a request and hand on. A step passes by returning, and refuses by throwing an ApiError.
import type { Request, RequestHandler, Response } from 'express';
import type { MockOperation } from '../operations.ts';
import type { Reading } from '../reading.ts';

/** The merchant account that is acted upon: its ID, every one (`*`), or none where the operation has none. */
export type Account = { kind: 'one'; id: string } | { kind: 'all' } | { kind: 'none' };

export interface Visit {
  reading: Reading;
  requestId: string;
  operation: MockOperation;
  account: Account;
  /** Why it was answered so, for the line in the terminal. */
  why: string;
}

export type Step = (visit: Visit, req: Request, res: Response) => Promise<void> | void;

export const visitOf = (res: Response): Visit => res.locals as unknown as Visit;

export const step =
  (run: Step): RequestHandler =>
  async (req, res, next) => {
    await run(visitOf(res), req, res);
    next();
  };
