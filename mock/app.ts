// The front: the same checks in the same order as the server's pipeline (server/app.ts), then Prism. Nothing is kept from one
// request to the next.
import { setTimeout as wait } from 'node:timers/promises';
import express, { type Express } from 'express';
import { account } from './http/account.ts';
import { createAnswer } from './http/answer.ts';
import { cors, earlyData, requestId, route } from './http/arrival.ts';
import { body } from './http/body.ts';
import { servePages } from './http/pages.ts';
import { createRequestLog, writeError } from './http/refusal.ts';
import { token } from './http/token.ts';
import { step, visitOf } from './http/visit.ts';
import type { Reading } from './reading.ts';

export interface AppOptions {
  /** The contract as it was last read; a request keeps the one that it began with. */
  reading: () => Reading;
  address: () => string;
  /** How long every answer is held back. */
  delayMilliseconds: number;
  log: (line: string) => void;
  now: () => Date;
}

export function createApp({ reading, address, delayMilliseconds, log, now }: AppOptions): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.enable('strict routing');
  app.enable('case sensitive routing');
  app.set('query parser', 'simple');

  app.use((_req, res, next) => {
    visitOf(res).reading = reading();
    next();
  });
  app.use(createRequestLog(log));
  app.use(cors);
  app.use(step(requestId));
  if (delayMilliseconds > 0)
    app.use(
      step(async () => {
        await wait(delayMilliseconds);
      }),
    );
  servePages(app);
  app.use(step(route));
  app.use(step(earlyData));
  app.use(step(token));
  app.use(step(account));
  app.use(step(body));
  app.use(step(({ reading: { requests }, operation }, req, res) => requests.judge(operation.id, req, res)));
  app.use(createAnswer({ address, now }));
  app.use(writeError);
  return app;
}
