// What the steps of the pipeline learn about a request and hand on to the next. One place, typed, instead of loose fields.
import type { Request, RequestHandler, Response } from 'express';
import type { OperationId, operations } from '../../generated/operations.ts';

export interface Context {
  requestId: string;
  operation: (typeof operations)[OperationId];
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
