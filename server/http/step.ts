// This folder has the steps of the request pipeline; server/app.ts lists them in order. The mock uses those that need neither
// keys nor a database (test/unit/walls.test.ts checks its imports).
import type { Request, RequestHandler, Response } from 'express';

/** A step returns to let the request pass, or throws an ApiError. The context has the results of earlier steps. */
export type PipelineStep<Context> = (context: Context, req: Request, res: Response) => Promise<void> | void;

/** The context is kept in `res.locals`. Many steps in one middleware: Express takes longer between two than most steps take. */
export const asMiddleware =
  <Context>(...steps: PipelineStep<Context>[]): RequestHandler =>
  async (req, res, next) => {
    await runSteps(steps, req, res);
    next();
  };

/** Other requests pass. The last step answers. */
export const whereOnly =
  <Context>(isMeant: (req: Request) => boolean, ...steps: PipelineStep<Context>[]): RequestHandler =>
  async (req, res, next) => {
    if (isMeant(req)) await runSteps(steps, req, res);
    else next();
  };

/** A step that has nothing to wait for is not awaited. */
async function runSteps<Context>(
  steps: readonly PipelineStep<Context>[],
  req: Request,
  res: Response,
): Promise<void> {
  for (const run of steps) {
    const running = run(res.locals as Context, req, res);
    if (running) await running;
  }
}
