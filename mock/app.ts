// The HTTP app: the same checks in the same order as the server's pipeline (server/app.ts), then Prism. It keeps no state
// between requests, except for the answers to requests with an Idempotency-Key, and those that are set beforehand.
import type { Request } from 'express';
import { createBody } from '../server/kit/http/body.ts';
import { createDashboard, explainAbsence } from '../server/kit/http/dashboard/dashboard.ts';
import type { RequestFeed } from '../server/kit/http/dashboard/feed.ts';
import { createExpress, type App } from '../server/kit/http/express.ts';
import {
  createCors,
  earlyData,
  createSecurityHeaders,
  wellFormed,
  requestId,
} from '../server/kit/http/headers.ts';
import type { Selected } from '../server/kit/http/known.ts';
import { check, forEvery, pipeline, whereOnly } from '../server/kit/http/pipeline.ts';
import { createRoute } from '../server/kit/http/route.ts';
import { createValidate } from '../server/kit/http/validate.ts';
import type { Answers } from './answers.ts';
import { account } from './http/account.ts';
import { createAnswer } from './http/answer.ts';
import type { Delay } from './http/delay.ts';
import { findOperation } from './http/find-operation.ts';
import type { Loaded, Routed } from './http/known.ts';
import { servePages } from './http/pages.ts';
import { createRequestLog, type RecordedRequest } from './http/request-log.ts';
import { createSetAnswers } from './http/set-answers.ts';
import { createToken, permission } from './http/token.ts';
import { writeError } from './http/write-error.ts';
import type { LoadedContract } from './loaded-contract.ts';
import { firstCalls } from './operations.ts';
import { readAsked, type Dynamic } from './prefer.ts';

export interface AppOptions {
  /** The current contract. A request keeps the one it started with, even if the contract is reloaded meanwhile. */
  contract: () => LoadedContract;
  address: () => string;
  /** Delay of every response. */
  delayMilliseconds: number;
  delay: Delay;
  /** Made-up values, for callers that do not ask for an answer. */
  dynamic: Dynamic | undefined;
  /** Those that are set beforehand. */
  answers: Answers;
  /** The docs; the folder may be missing. */
  siteDir: string;
  /** The pages for developers. Undefined if other machines can reach the mock: then nobody can set answers by HTTP either. */
  pagesDir: string | undefined;
  requests: RequestFeed;
  record: (request: RecordedRequest) => void;
  log: (line: string) => void;
  now: () => Date;
}

/** The server's default for BODY_LIMIT. */
const bodyLimit = 102_400;

/** The mock has no limits: it answers 429 when it is asked to. */
const uncounted = check('counted', (_known: Selected) => undefined);

export function createApp(options: AppOptions): App {
  const { contract, address, delay, delayMilliseconds, siteDir, pagesDir, requests, record, log, now } =
    options;
  const { answers, dynamic } = options;
  const app = createExpress();
  const isKnown = (req: Request) => contract().find.isKnown(req);
  const arrived = forEvery(
    app,
    pipeline()
      .step(() => ({ contract: contract() }))
      .step(requestId),
  );
  app.use(createSecurityHeaders(false));
  // Before CORS, which lets pages of all origins read what they get, and before the log, which they would fill.
  if (pagesDir !== undefined) {
    const { title: name, version } = contract().document.info;
    const facts = { name, version, kind: 'mock' } as const;
    const firstCall = () => firstCalls(contract().operations, address())[0] ?? '';
    app.use(createDashboard({ pagesDir, requests, facts, firstCall, makeToken: () => 'mock' }, isKnown));
  }
  app.use(createRequestLog(log, requests.note, record));
  if (pagesDir !== undefined) app.use(createSetAnswers(answers, contract));
  app.use(createCors(() => contract().operations));
  const accepted = forEvery(app, arrived.step(wellFormed));
  app.use(async (_req, res, next) => {
    await delay(res, delayMilliseconds);
    next();
  });
  const route = createRoute(
    (known: Loaded, req) => findOperation(known.contract, req),
    (known) => known.contract.document,
  );
  const checks = accepted
    .step(route)
    .step(readAsked)
    .step(earlyData)
    .step(createToken(now))
    .step(permission)
    .step(account)
    .step(uncounted)
    .step(createBody(bodyLimit, ({ operation }: Routed) => operation.hasBody))
    .step(createValidate(({ contract: { validator } }: Loaded) => validator))
    .step(createAnswer({ address, delay, now, answers, dynamic }));
  app.use(whereOnly(isKnown, checks));
  servePages(app, arrived, siteDir, { hasConsole: pagesDir !== undefined, address });
  if (pagesDir !== undefined) app.use(explainAbsence);
  // Refuses what is neither an operation nor a page.
  forEvery(app, accepted.step(route));
  app.use(writeError);
  return app;
}
