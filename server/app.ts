// The request pipeline: the list of middleware in order. Every step reads what it needs to know about an operation from the
// contract, so a new operation gets all of them. It composes and decides nothing.
import type { Logger } from 'pino';
import { operations, type Handlers, type OperationId } from '../generated/operations.ts';
import type { CompiledContract } from './contract/compile.ts';
import { createExamples, hasBody } from './contract/load.ts';
import { requestDatabaseMilliseconds, type OpenedDatabase } from './database/open.ts';
import { countCall } from './database/rate-limits.ts';
import type { Db, InUnitOfWork } from './database/unit-of-work.ts';
import type { Deps, WriteDeps } from './handlers/deps.ts';
import { createAccessLog, type NoteRequest, createTrace, type RequestTracing } from './http/access-log.ts';
import { permission, createMerchantAccount, ownersOf } from './http/access.ts';
import { createAnswer } from './http/answer.ts';
import { serveApprovals } from './http/approvals.ts';
import { createBearer } from './http/bearer.ts';
import { createBody } from './http/body.ts';
import { createDesk, type DeskDeps } from './http/desk/desk.ts';
import { createExpress, type App } from './http/express.ts';
import {
  createCors,
  announceDeprecation,
  earlyData,
  createSecurityHeaders,
  wellFormed,
  requestId,
} from './http/headers.ts';
import { createWaitForStart, serveHealth, type Life } from './http/health.ts';
import { createRateLimit, createVelocityLimit, type CardsPerMinute } from './http/limits.ts';
import type { Router } from './http/route.ts';
import { serveStatic } from './http/static.ts';
import { type Context, type Step, asMiddleware, whereOnly } from './http/step.ts';
import { createFallback, createWriteError } from './http/write-error.ts';
import { recordKeyPairUse } from './resources/api-key-pairs/changes.ts';
import { findSigningPair } from './resources/api-key-pairs/queries.ts';
import { createKeptAnswers } from './resources/idempotency-keys/changes.ts';
import { findAccount, findFirstAccount } from './resources/merchant-accounts/queries.ts';
import { findPaymentMethodOfAnyAccount } from './resources/payment-methods/queries.ts';
import { isAllowed } from './resources/roles/rules.ts';
import type { Secrets } from './secrets/open.ts';

export interface AppDeps extends CompiledContract, Secrets, Pick<Deps, 'environment' | 'providers' | 'now'> {
  handlers: Handlers<WriteDeps>;
  database: OpenedDatabase;
  find: Router<(typeof operations)[OperationId]>;
  unitsOn: (db: Db) => InUnitOfWork;
  publicUrl: () => string;
  bodyLimit: number;
  cardsPerMinute: CardsPerMinute;
  siteDir: string;
  /** The sandbox's pages for developers. Undefined in production, and if other machines can reach this server. */
  desk: Omit<DeskDeps, 'facts'> | undefined;
  life: Life;
  /** Left out when they are off. */
  noteRequest?: NoteRequest | undefined;
  tracing?: RequestTracing | undefined;
  log: Logger;
}

export function createApp(deps: AppDeps): App {
  const { document, validator, responses, handlers, database } = deps;
  const { find, unitsOn, publicUrl, life, log, now } = deps;
  const { environment, cursors, vault, keysOf } = deps;
  const { providers, siteDir, desk, bodyLimit, cardsPerMinute } = deps;
  const { dbFor } = database;
  const shared = { environment, cursors, vault, keysOf, providers, now };
  const example = createExamples(document);

  const app = createExpress();
  app.use(
    asMiddleware<Context>(requestId, createWaitForStart(life), (context) => {
      context.budget = { left: requestDatabaseMilliseconds };
      context.db = dbFor(context);
    }),
  );
  app.use(createSecurityHeaders(publicUrl));
  // Before CORS, which lets pages of all origins read what they get.
  if (desk) {
    const { title: name, version } = document.info;
    app.use(createDesk({ ...desk, facts: { name, version, kind: 'sandbox' } }, find.isKnown));
  }
  app.use(createCors(() => Object.values(operations)));
  app.use(createAccessLog(log, { noteRequest: deps.noteRequest, keep: desk?.recent.note }));
  if (deps.tracing) app.use(createTrace(deps.tracing));
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
        first: (own, context: Context) => findFirstAccount(context.db, own),
        find: (own, id, context) => findAccount(context.db, own, id),
      }),
      (context) => {
        context.ownDb = dbFor({ budget: context.budget, owners: ownersOf(context) });
      },
      createRateLimit(countCall),
      createBody(bodyLimit, ({ operation }) => hasBody(document, operation)),
      async (context, req, res) => {
        context.path = await validator.validate(context.operation.id, req, res);
      },
      createAnswer({
        handlers,
        responses,
        limitVelocity: createVelocityLimit({
          ...{ countCall, keysOf, cardsPerMinute, environment, now },
        }),
        keysOf,
        keptFor: createKeptAnswers({ vault, now }),
        countCall,
        depsOf: (context, beforeCommit) => {
          const { ownDb: db, caller, selection, requestId, traceId } = context;
          const account = selection.kind === 'one' ? selection.id : undefined;
          return {
            ...shared,
            db,
            caller,
            mayCall: (id) => isAllowed(operations[id].scopes, caller.scopes, caller.permissions),
            selection,
            example,
            publicUrl: publicUrl(),
            warn: (message, facts) => {
              log.warn({ requestId, traceId, account, ...facts }, message);
            },
            inUnitOfWork: (work) => unitsOn(db)(async (unit) => beforeCommit(await work(unit), unit)),
          };
        },
      }),
    ),
  );
  serveHealth(app, life, database.findUnready);
  serveStatic(app, { document, siteDir, hasConsole: desk !== undefined, ownUrl: desk && publicUrl });
  if (environment === 'sandbox')
    serveApprovals(app, {
      find: findPaymentMethodOfAnyAccount,
      unitsOn,
    });
  // Refuses what is neither an operation nor a page.
  app.use(asMiddleware<Context>(route));
  app.use(createWriteError(responses, log));
  app.use(createFallback(log));
  return app;
}
