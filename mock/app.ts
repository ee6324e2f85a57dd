// The HTTP app: the same checks in the same order as the server's pipeline (server/app.ts), then Prism. It keeps no state
// between requests, except for the answers to requests with an Idempotency-Key.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Request } from 'express';
import { createBody } from '../server/http/body.ts';
import { createDesk } from '../server/http/desk/desk.ts';
import type { RequestFeed } from '../server/http/desk/feed.ts';
import {
  createCors,
  announceDeprecation,
  earlyData,
  createSecurityHeaders,
  wellFormed,
  requestId,
} from '../server/http/headers.ts';
import { createExpress, asMiddleware, whereOnly, type App } from '../server/http/step.ts';
import { account } from './http/account.ts';
import { createAnswer } from './http/answer.ts';
import { contextOf, type MockContext, type Step } from './http/context.ts';
import { findOperation } from './http/find-operation.ts';
import { servePages } from './http/pages.ts';
import { createRequestLog } from './http/request-log.ts';
import { createToken } from './http/token.ts';
import { writeError } from './http/write-error.ts';
import type { LoadedContract } from './loaded-contract.ts';

export interface AppOptions {
  /** The current contract. A request keeps the one it started with, even if the contract is reloaded meanwhile. */
  contract: () => LoadedContract;
  address: () => string;
  /** Delay of every response. */
  delayMilliseconds: number;
  /** The docs; the folder may be missing. */
  siteDir: string;
  /** The pages for developers, unless other machines can reach the mock. */
  pagesDir: string | undefined;
  requests: RequestFeed;
  log: (line: string) => void;
  now: () => Date;
}

/** The server's default for BODY_LIMIT. */
const bodyLimit = 102_400;

const route: Step = (context, req, res) => {
  Object.assign(context, findOperation(context.contract, req));
  announceDeprecation(context.contract.document, context.operation, res);
};

export function createApp(options: AppOptions): App {
  const { contract, address, delayMilliseconds, siteDir, pagesDir, requests, log, now } = options;
  const app = createExpress();
  const isKnown = (req: Request) => contract().find.isKnown(req);
  app.use((_req, res, next) => {
    contextOf(res).contract = contract();
    next();
  });
  app.use(asMiddleware<MockContext>(requestId));
  app.use(createSecurityHeaders(address));
  // Before CORS, which lets pages of all origins read what they get, and before the log, which they would fill.
  if (pagesDir !== undefined) {
    const { title: name, version } = contract().document.info;
    const facts = { name, version, kind: 'mock' } as const;
    const firstCall = () => `curl -H 'Authorization: Bearer mock' ${address()}/card-scheme-definitions`;
    app.use(createDesk({ pagesDir, requests, facts, firstCall, makeToken: () => 'mock' }, isKnown));
  }
  app.use(createRequestLog(log, requests.note));
  app.use(createCors(() => contract().operations));
  app.use(asMiddleware<MockContext>(wellFormed));
  if (delayMilliseconds > 0)
    app.use(
      asMiddleware<MockContext>(async () => {
        await sleep(delayMilliseconds);
      }),
    );
  app.use(
    whereOnly<MockContext>(
      isKnown,
      route,
      earlyData,
      createToken(now),
      account,
      createBody(bodyLimit, ({ operation }) => operation.hasBody),
      async ({ contract: { validator }, operation }, req, res) => {
        await validator.validate(operation.id, req, res);
      },
      createAnswer({ address, now }),
    ),
  );
  servePages(app, siteDir, { hasConsole: pagesDir !== undefined, address });
  // Refuses what is neither an operation nor a page.
  app.use(asMiddleware<MockContext>(route));
  app.use(writeError);
  return app;
}
