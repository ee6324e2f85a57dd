// The front: the same checks in the same order as the server's pipeline (server/app.ts), then Prism. Nothing is kept from one
// request to the next.
import { setTimeout as wait } from 'node:timers/promises';
import type { Express } from 'express';
import { createBody } from '../server/http/body.ts';
import { cors } from '../server/http/cors.ts';
import { earlyData } from '../server/http/early-data.ts';
import { createExpress } from '../server/http/express.ts';
import { requestId } from '../server/http/request-id.ts';
import { account } from './http/account.ts';
import { createAnswer } from './http/answer.ts';
import { servePages } from './http/pages.ts';
import { createRequestLog, writeError } from './http/refusal.ts';
import { token } from './http/token.ts';
import { step, visitOf, type Step } from './http/context.ts';
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

/** The service's, unless its operator says otherwise. */
const bodyLimit = 102_400;

const route: Step = (visit, req) => {
  Object.assign(visit, visit.reading.find(req));
};

export function createApp({ reading, address, delayMilliseconds, log, now }: AppOptions): Express {
  const app = createExpress();
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
  app.use(step(createBody(bodyLimit, ({ operation }) => operation.hasBody)));
  app.use(
    step(async ({ reading: { requests }, operation }, req, res) => {
      await requests.judge(operation.id, req, res);
    }),
  );
  app.use(createAnswer({ address, now }));
  app.use(writeError);
  return app;
}
