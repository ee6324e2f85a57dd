// The request pipeline: the list of middleware in order. Every step reads what it needs to know about an operation from the
// contract, so a new operation gets all of them.
import type { Logger } from 'pino';
import { operations, type Handlers, type OperationId } from '../generated/operations.ts';
import type { Config } from './config.ts';
import type { CompiledContract } from './contract/compile.ts';
import { createExamples, hasBody } from './contract/load.ts';
import { requestDatabaseMilliseconds, type OpenedDatabase } from './database/open.ts';
import { countCall } from './database/rate-limits.ts';
import type { Db, InUnitOfWork } from './database/unit-of-work.ts';
import type { WriteDeps } from './handlers/deps.ts';
import { createAccessLog, createTrace } from './http/access-log.ts';
import { permission, createMerchantAccount, requestOwner } from './http/access.ts';
import { createAnswer } from './http/answer.ts';
import { serveApprovals } from './http/approvals.ts';
import { createBearer } from './http/bearer.ts';
import { createBody } from './http/body.ts';
import { createDesk, isLoopback, type DeskDeps } from './http/desk/desk.ts';
import {
  createCors,
  announceDeprecation,
  earlyData,
  createSecurityHeaders,
  wellFormed,
  requestId,
} from './http/headers.ts';
import { createWaitForStart, serveHealth, type Life } from './http/health.ts';
import { createRateLimit, createVelocityLimit } from './http/limits.ts';
import type { Router } from './http/route.ts';
import { serveStatic } from './http/static.ts';
import { createExpress, asMiddleware, whereOnly, type App, type Context, type Step } from './http/step.ts';
import { createFallback, createWriteError } from './http/write-error.ts';
import type { GuardedProviders } from './providers/index.ts';
import { recordKeyPairUse } from './resources/api-key-pairs/changes.ts';
import { findSigningPair } from './resources/api-key-pairs/queries.ts';
import { createKeptAnswers } from './resources/idempotency-keys/changes.ts';
import { findAccount, findFirstAccount } from './resources/merchant-accounts/queries.ts';
import { isAllowed } from './resources/roles/rules.ts';
import type { Secrets } from './secrets/open.ts';
import type { Observing } from './upkeep/observe.ts';

interface AppDeps {
  config: Config;
  contract: CompiledContract;
  secrets: Secrets;
  providers: GuardedProviders;
  handlers: Handlers<WriteDeps>;
  database: OpenedDatabase;
  find: Router<(typeof operations)[OperationId]>;
  unitsOn: (db: Db) => InUnitOfWork;
  publicUrl: () => string;
  siteDir: string;
  pagesDir: string;
  /** The sandbox's pages for developers. Undefined in production, and if other machines can reach this server. */
  desk: DeskDeps | undefined;
  life: Life;
  observing: Pick<Observing, 'metrics' | 'tracing'>;
  log: Logger;
  now: () => Date;
}

export function createApp(deps: AppDeps): App {
  const { config, contract, database, find, unitsOn, publicUrl, desk, life, observing, log, now } = deps;
  const { document, validator, responses } = contract;
  const { environment, cardsPerMinute } = config;
  const { vault, keysOf, cursors } = deps.secrets;
  const { dbFor } = database;
  const example = createExamples(document);
  const withBody = new Set(
    Object.values(operations).flatMap((operation) => (hasBody(document, operation) ? operation.id : [])),
  );
  const shared = { environment, cursors, vault, keysOf, providers: deps.providers, example, now };

  const app = createExpress();
  app.use(
    asMiddleware<Context>(requestId, createWaitForStart(life), (context) => {
      context.deadline = { left: requestDatabaseMilliseconds };
      context.quickDb = dbFor({ deadline: context.deadline });
    }),
  );
  app.use(createSecurityHeaders(publicUrl));
  // Before CORS, which lets pages of all origins read what they get.
  if (desk) app.use(createDesk(desk, find.isKnown));
  app.use(createCors(() => Object.values(operations)));
  app.use(createAccessLog(log, { noteRequest: observing.metrics?.noteRequest, keep: desk?.requests.note }));
  if (observing.tracing) app.use(createTrace(observing.tracing));
  app.use(asMiddleware<Context>(wellFormed));
  const route: Step = (context, req, res) => {
    context.operation = find(req).operation;
    announceDeprecation(document, context.operation, res);
  };
  app.use(
    whereOnly<Context>(
      find.isKnown,
      route,
      earlyData,
      createBearer({ findSigningPair, recordKeyPairUse, log, now }),
      permission,
      createMerchantAccount({
        first: (own, context: Context) => findFirstAccount(context.quickDb, own),
        find: (own, id, context) => findAccount(context.quickDb, own, id),
      }),
      (context) => {
        context.db = dbFor({ deadline: context.deadline, owner: requestOwner(context) });
      },
      createRateLimit(countCall),
      createBody(config.bodyLimit, ({ operation }) => withBody.has(operation.id)),
      async (context, req, res) => {
        context.path = await validator.validate(context.operation.id, req, res);
      },
      createAnswer({
        handlers: deps.handlers,
        responses,
        limitVelocity: createVelocityLimit({
          ...{ countCall, keysOf, cardsPerMinute, environment },
        }),
        keysOf,
        keptFor: createKeptAnswers(vault),
        countCall,
        depsOf: ({ db, caller, selection, requestId, traceId }, beforeCommit) => ({
          ...shared,
          db,
          requestId,
          caller,
          mayCall: (id) => isAllowed(operations[id].scopes, caller.scopes, caller.permissions),
          selection,
          publicUrl: publicUrl(),
          warn: (message, facts) => {
            const account = selection.kind === 'one' ? selection.id : undefined;
            log.warn({ requestId, traceId, account, ...facts }, message);
          },
          inUnitOfWork: (work) =>
            unitsOn(db)(async (unit) => {
              const answer = await work(unit);
              await beforeCommit(answer, unit);
              return answer;
            }),
        }),
      }),
    ),
  );
  serveHealth(app, life, database.findUnready);
  serveStatic(app, {
    document,
    siteDir: deps.siteDir,
    hasConsole: desk !== undefined,
    ownUrl: environment === 'sandbox' && isLoopback(config.host) ? publicUrl : undefined,
  });
  if (environment === 'sandbox') serveApprovals(app, deps.pagesDir, unitsOn);
  // Refuses what is neither an operation nor a page.
  app.use(asMiddleware<Context>(route));
  app.use(createWriteError(responses, log));
  app.use(createFallback(log));
  return app;
}
