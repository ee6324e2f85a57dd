// This folder has the steps of the request pipeline; server/app.ts lists them in order. The mock uses those that need neither
// keys nor a database (test/unit/walls.test.ts checks its imports).
import { IncomingMessage, ServerResponse } from 'node:http';
import express, { type Request, type RequestHandler, type Response, type Express } from 'express';
import type { OperationId, operations } from '../../generated/operations.ts';
import type { Deadline } from '../database/connection.ts';
import type { Db } from '../database/database.ts';
import type { Selection } from '../handlers/deps.ts';
import type { Accounts } from '../rules/accounts.ts';

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

// What the steps find out about a request, in one typed object.

/** The key pair behind a verified token. */
export interface Caller {
  keyPairId: string;
  scopes: readonly string[];
  /** What the roles of the pair allow. */
  permissions: readonly string[];
  /** The merchant accounts that the pair has access to. */
  accounts: Accounts;
  /** Identifies the token for the rate limit. */
  tokenDigest: string;
}

/** Why a request was refused, for the access log. */
export interface Refusal {
  code: string;
  reason: string | undefined;
}

export interface Context {
  requestId: string;
  /** How long the request may still wait for the database. */
  deadline: Deadline;
  /** For statements that take no time, and must not wait behind slow ones of the same account. */
  quickDb: Db;
  /** For what may be slow: connections count for key pair and merchant account (database/fair-share.ts). */
  db: Db;
  /** Undefined without tracing. */
  traceId: string | undefined;
  operation: (typeof operations)[OperationId];
  caller: Caller;
  selection: Selection;
  /** The validated parameters of the path. */
  path: Record<string, unknown>;
  refusal: Refusal;
  /** Why `/readyz` responds with 503, for the access log. */
  unready: string;
}

export type Step = PipelineStep<Context>;

export const contextOf = (res: Response): Context => res.locals as unknown as Context;

/** For middleware that also runs after a step has refused the request: the fields of later steps are then missing. */
export const partialContextOf = (res: Response): Partial<Context> => res.locals;

/** What Node makes the requests and responses of an app of: an option of `createServer`. */
export interface Messages {
  IncomingMessage: typeof IncomingMessage;
  ServerResponse: typeof ServerResponse;
}

export type App = Express & { messages: Messages };

/** An Express app without default headers. Paths are case-sensitive, and a trailing slash makes another path. */
export function createExpress(): App {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.enable('strict routing');
  app.enable('case sensitive routing');
  app.set('query parser', 'simple');
  return Object.assign(app, { messages: messagesOf(app) });
}

/**
 * Express gives every request and response a prototype of its own, and V8 then forgets what it has learnt of them, which is half
 * of what Express costs. These have that prototype from the start.
 */
function messagesOf(app: Express): Messages {
  class Request extends IncomingMessage {}
  class Response<R extends IncomingMessage> extends ServerResponse<R> {}
  Object.setPrototypeOf(Request.prototype, app.request);
  Object.setPrototypeOf(Response.prototype, app.response);
  Object.assign(app, { request: Request.prototype, response: Response.prototype });
  return { IncomingMessage: Request, ServerResponse: Response };
}
