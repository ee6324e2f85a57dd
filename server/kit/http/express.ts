// Express as this project uses it. The steps of a request are in the other files of this folder; server/app.ts lists them in order. The
// mock uses those that need neither keys nor a database (test/unit/import-boundaries.test.ts checks its imports).
import { IncomingMessage, ServerResponse } from 'node:http';
import express, { type Express } from 'express';

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
