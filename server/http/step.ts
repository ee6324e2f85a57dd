// The steps of the pipeline live in this room; server/app.ts lists them in their order. The mock uses the steps that need
// neither keys nor a database (test/unit/walls.test.ts checks what it can reach).
import type { Request, RequestHandler, Response } from 'express';

/** A step passes by returning and refuses by throwing an ApiError. The context holds what earlier steps found out. */
export type Step<Context> = (context: Context, req: Request, res: Response) => Promise<void> | void;

/** The context is kept in `res.locals`. */
export const asMiddleware =
  (run: Step<never>): RequestHandler =>
  async (req, res, next) => {
    await run(res.locals as never, req, res);
    next();
  };
