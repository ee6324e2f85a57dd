// A pipeline is a list of steps in order. Each step takes what is known of a request and returns what it finds out, so a step that
// reads what no step before it has found does not compile. server/app.ts and mock/app.ts list their steps.
import type { Express, NextFunction, Request, RequestHandler, Response } from 'express';

/** Throws an ApiError to refuse the request. */
export type Step<Needs, Finds extends object> = (
  known: Needs,
  req: Request,
  res: Response,
) => Finds | Promise<Finds>;

declare const inTypesOnly: unique symbol;

/** The mark of a step that only refuses. No value has it: the next step demands it in its type, which keeps the two in order. */
export type Passed<Name extends string> = { readonly [Key in Name]: typeof inTypesOnly };

export const check = <Name extends string, Needs>(
  _mark: Name,
  refuse: (known: Needs, req: Request, res: Response) => Promise<void> | void,
) => refuse as unknown as Step<Needs, Passed<Name>>;

type Untyped = (known: never, req: Request, res: Response) => unknown;

export interface Pipeline<Known> {
  /** Appends a step, which may not find out again what is known. */
  step: <Finds extends object & { [Key in keyof Known]?: never }>(
    step: Step<Known, Finds>,
  ) => Pipeline<Known & Finds>;
  readonly steps: readonly Untyped[];
}

export const pipeline = (): Pipeline<object> => withSteps([]);

const withSteps = <Known>(steps: readonly Untyped[]): Pipeline<Known> => ({
  steps,
  step: (step) => withSteps([...steps, step]),
});

// How Express runs pipelines. What is known of a request is in `res.locals`.

/** For all requests that get here. Later pipelines go on from the one that is returned. */
export function forEvery<Known>(app: Express, { steps }: Pipeline<Known>): Pipeline<Known> {
  app.use(async (req, res, next) => {
    await run(steps, req, res);
    next();
  });
  return withSteps([]);
}

export const whereOnly =
  <Known extends Passed<'answered'>>(
    isMeant: (req: Request) => boolean,
    { steps }: Pipeline<Known>,
  ): RequestHandler =>
  async (req, res, next) => {
    if (isMeant(req)) await run(steps, req, res);
    else next();
  };

/** For a route of Express that needs what is known. */
export const knowing =
  <Known>(
    { steps }: Pipeline<Known>,
    handle: (known: Known, req: Request, res: Response, next: NextFunction) => Promise<void> | void,
  ): RequestHandler =>
  async (req, res, next) => {
    await run(steps, req, res);
    await handle(res.locals as Known, req, res, next);
  };

/** All in one middleware: Express takes longer between two than most steps take. A step that has nothing to wait for is not awaited. */
async function run(steps: readonly Untyped[], req: Request, res: Response): Promise<void> {
  for (const step of steps) {
    const found = step(res.locals as never, req, res);
    Object.assign(res.locals, found instanceof Promise ? await found : found);
  }
}
