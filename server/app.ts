// The request pipeline: the list of middleware in order. Every step reads what it needs to know about an operation from the
// contract, so a new operation gets all of them. There is no logic here.
import type { Express } from 'express';
import type { Logger } from 'pino';
import { operations, type Handlers } from '../generated/operations.ts';
import { noteKeyPairUse } from './actions/api-key-pairs.ts';
import { createKeptAnswers } from './actions/idempotency.ts';
import type { InUnitOfWork, Work } from './actions/unit-of-work.ts';
import type { CompiledContract } from './contract/compile.ts';
import { createExamples } from './contract/examples.ts';
import { hasBody } from './contract/load.ts';
import { isAllowed } from './domain/scopes.ts';
import type { Deps, WriteDeps } from './handlers/deps.ts';
import { createAccessLog } from './http/access-log.ts';
import { createAnswer } from './http/answer.ts';
import { serveApprovals } from './http/approvals.ts';
import { createBearer } from './http/bearer.ts';
import { createBody } from './http/body.ts';
import { step } from './http/context.ts';
import { cors } from './http/cors.ts';
import { announceDeprecation } from './http/deprecation.ts';
import { serveDesk, type Activity } from './http/desk/desk.ts';
import { createRecent } from './http/desk/recent.ts';
import { earlyData } from './http/early-data.ts';
import { createExpress } from './http/express.ts';
import { createSecurityHeaders, wellFormed } from './http/headers.ts';
import { createOnce } from './http/idempotency.ts';
import { createMerchantAccount } from './http/merchant-account.ts';
import { permission } from './http/permission.ts';
import { createRateLimit, rateLimits } from './http/rate-limit.ts';
import { requestId } from './http/request-id.ts';
import { createRouter } from './http/route.ts';
import { serveStatic } from './http/static.ts';
import { cardLimits, createVelocityLimit, type CardsPerMinute } from './http/velocity-limit.ts';
import { createFallback, createWriteError } from './http/write-error.ts';
import type { Secrets } from './secrets.ts';
import { findSigningPair } from './store/api-key-pairs.ts';
import { countCardNumber } from './store/card-numbers.ts';
import type { OpenedDatabase } from './store/open.ts';
import { onBehalfOf } from './store/fair-share.ts';
import { findAccount, findFirstAccount } from './store/merchant-accounts.ts';
import { findPaymentMethodOfAnyAccount } from './store/payment-methods.ts';
import { createRateLimiter } from './store/rate-limits.ts';

export interface AppDeps
  extends CompiledContract, Secrets, Pick<Deps, 'environment' | 'providers' | 'now' | 'warn'> {
  handlers: Handlers<WriteDeps>;
  database: OpenedDatabase;
  inUnitOfWork: InUnitOfWork;
  publicUrl: () => string;
  bodyLimit: number;
  cardsPerMinute: CardsPerMinute;
  siteDir: string;
  /** The sandbox's pages for developers. Undefined in production, and if other machines can reach this server. */
  desk: { activity: Activity; pagesDir: string; makeToken: () => string } | undefined;
  log: Logger;
}

export function createApp(deps: AppDeps): Express {
  const { document, requests, responses, handlers, database } = deps;
  const { inUnitOfWork, publicUrl, log, now } = deps;
  const { environment, cursors, vault, fingerprints, digests, velocity } = deps;
  const { providers, warn, siteDir, desk, bodyLimit, cardsPerMinute } = deps;
  const { db, pool, isSharded } = database;
  const shared = { db, isSharded, environment, cursors, vault, fingerprints, providers, now, warn };
  const example = createExamples(document);
  const find = createRouter(Object.values(operations));

  const app = createExpress();
  app.use(step(requestId));
  app.use(createSecurityHeaders(publicUrl));
  const recent = desk && createRecent(now);
  // Before CORS, which lets pages of all origins read what they get.
  if (desk && recent)
    serveDesk(app, {
      ...desk,
      recent,
      facts: { name: document.info.title, version: document.info.version, kind: 'sandbox' },
    });
  app.use(cors);
  app.use(createAccessLog(log, recent?.note));
  app.use(step(wellFormed));
  serveStatic(app, { document, siteDir, hasConsole: desk !== undefined, isReady: database.isReady });
  if (environment === 'sandbox')
    serveApprovals(app, { find: (id) => findPaymentMethodOfAnyAccount(db, id), inUnitOfWork });
  app.use(
    step((context, req, res) => {
      context.operation = find(req).operation;
      announceDeprecation(document, context.operation, res);
    }),
  );
  app.use(step(earlyData));
  app.use(
    step(
      createBearer({
        findSigningPair: (thumbprint) => findSigningPair(db, thumbprint),
        touch: (pairId, at) => noteKeyPairUse(db, pairId, at),
        now,
      }),
    ),
  );
  app.use(step(permission));
  app.use(
    step(
      createMerchantAccount({
        first: (own) => findFirstAccount(db, own),
        find: (own, id) => findAccount(db, own, id),
        now,
      }),
    ),
  );
  app.use(step(createRateLimit(createRateLimiter(pool, rateLimits))));
  app.use(step(createBody(bodyLimit, ({ operation }) => hasBody(document, operation))));
  app.use(
    step(async (context, req, res) => {
      context.path = (await requests.judge(context.operation.id, req, res)).path;
    }),
  );
  app.use(
    createAnswer<WriteDeps, Work>({
      handlers,
      responses,
      onBehalfOf,
      limitVelocity: createVelocityLimit({
        countCard: createRateLimiter(pool, cardLimits(cardsPerMinute, environment)),
        countNumber: (tried, limit) => countCardNumber(db, tried, limit, now()),
        digestsOf: velocity,
      }),
      digests,
      once: createOnce(createKeptAnswers({ db, vault, now })),
      depsOf: ({ caller, selection }, beforeCommit) => ({
        ...shared,
        caller,
        mayCall: (id) => isAllowed(operations[id].scopes, caller.scopes, caller.permissions),
        selection,
        example,
        publicUrl: publicUrl(),
        inUnitOfWork: (work) => inUnitOfWork(async (unit) => beforeCommit(await work(unit), unit)),
      }),
    }),
  );
  app.use(createWriteError(responses, log));
  app.use(createFallback(log));
  return app;
}
