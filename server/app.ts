// The pipeline: one ordered list that reads like the order of checks. What differs per operation is read from the
// contract, so an operation that is added there gets all of it. Nothing is decided here.
import type { Express } from 'express';
import type { Logger } from 'pino';
import { operations, type Handlers, type OperationId, type Result } from '../generated/operations.ts';
import { hasBody } from './contract/explain.ts';
import { createExamples } from './contract/examples.ts';
import type { Document } from './contract/load.ts';
import type { RequestJudge } from './contract/requests.ts';
import type { ResponseCheck } from './contract/responses.ts';
import { createBody } from './http/body.ts';
import { cors } from './http/cors.ts';
import { earlyData } from './http/early-data.ts';
import { createExpress } from './http/express.ts';
import { createMerchantAccount } from './http/merchant-account.ts';
import { requestId } from './http/request-id.ts';
import { createRouter } from './http/route.ts';
import type { Announce } from './events.ts';
import type { Deps, Services } from './handlers/deps.ts';
import { serveApprovals } from './http/approvals.ts';
import { createAnswer } from './http/answer.ts';
import { createBearer } from './http/bearer.ts';
import { step, type Context, type Step } from './http/context.ts';
import { permission } from './http/permission.ts';
import { createRateLimit } from './http/rate-limit.ts';
import { serveStatic } from './http/static.ts';
import { createAccessLog, createWriteError, lastResort } from './http/write-error.ts';
import { approvalPage, decidedPage } from './sandbox/approval-page.ts';
import type { Database } from './store/database.ts';
import { createStore } from './store/index.ts';
import { movePaymentMethod } from './store/payment-method-moves.ts';
import { findPaymentMethod } from './store/payment-methods.ts';

export interface AppDeps {
  document: Document;
  requests: RequestJudge;
  responses: ResponseCheck;
  handlers: Handlers<Deps>;
  database: Database;
  services: Services;
  announce: Announce;
  publicUrl: () => string;
  bodyLimit: number;
  siteDir: string;
  log: Logger;
  now: () => Date;
}

export function createApp(deps: AppDeps): Express {
  const {
    document,
    requests,
    responses,
    handlers,
    database,
    services,
    announce,
    publicUrl,
    bodyLimit,
    siteDir,
    log,
    now,
  } = deps;
  const store = createStore(database.db);
  const example = createExamples(document);

  type Work = (deps: Deps) => Promise<Result<OperationId>>;
  const withDeps = ({ caller, selection }: Context, isWrite: boolean, work: Work) => {
    const shared = { ...services, publicUrl: publicUrl(), now, caller, selection, example };
    const silent = () => Promise.resolve();
    if (!isWrite) return work({ ...shared, store, announceCreated: silent });
    return database.db.transaction().execute((transaction) =>
      work({
        ...shared,
        store: createStore(transaction),
        announceCreated: (row) => announce.paymentMethod(transaction, 'created', row),
      }),
    );
  };

  const find = createRouter(Object.values(operations));
  const route: Step = (context, req) => {
    context.operation = find(req).operation;
  };

  const app = createExpress();
  app.use(cors);
  app.use(createAccessLog(log));
  app.use(step(requestId));
  serveStatic(app, { document, siteDir, isReady: database.isReady });
  if (services.environment === 'sandbox') {
    serveApprovals(app, {
      find: (id) => findPaymentMethod(database.db, id),
      move: (id, status) =>
        movePaymentMethod(database.db, id, status, (db, row) => announce.paymentMethod(db, 'updated', row)),
      pages: { approval: approvalPage, decided: decidedPage },
    });
  }
  app.use(step(route));
  app.use(step(earlyData));
  app.use(step(createBearer({ findSigningPair: store.findSigningPair, touch: store.touchApiKeyPair, now })));
  app.use(step(permission));
  app.use(step(createMerchantAccount({ first: store.firstAccount, find: store.findAccount })));
  app.use(step(createRateLimit(database.pool)));
  app.use(step(createBody(bodyLimit, ({ operation }) => hasBody(document, operation.id))));
  app.use(
    step(async (context, req, res) => {
      context.path = (await requests.judge(context.operation.id, req, res)).path;
    }),
  );
  app.use(createAnswer({ handlers, check: responses, withDeps }));
  app.use(createWriteError(responses, log));
  app.use(lastResort(log));
  return app;
}
