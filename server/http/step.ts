// What happens to a request before anybody has to know keys or a database: the steps that service and mock have in common.
// No tokens and no store in here, and nothing of express-openapi-validator; see docs/decisions/0007.
import type { Request, RequestHandler, Response } from 'express';

/** A step passes by returning, and refuses by throwing an ApiError. The context is what the steps of a request learn. */
export type Step<Context> = (context: Context, req: Request, res: Response) => Promise<void> | void;

/** What the steps of a request learn is kept with its response. */
export const asHandler =
  (run: Step<never>): RequestHandler =>
  async (req, res, next) => {
    await run(res.locals as never, req, res);
    next();
  };
