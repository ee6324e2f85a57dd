// This folder has the steps of the request pipeline; server/app.ts lists them in order. The mock uses those that need neither
// keys nor a database (test/unit/walls.test.ts checks its imports).
import type { Request, RequestHandler, Response } from 'express';

/** A step returns to let the request pass, or throws an ApiError. The context has the results of earlier steps. */
export type Step<Context> = (context: Context, req: Request, res: Response) => Promise<void> | void;

/** The context is kept in `res.locals`. */
export const asMiddleware =
  (run: Step<never>): RequestHandler =>
  async (req, res, next) => {
    await run(res.locals as never, req, res);
    next();
  };
