// The request pipeline: the checks of a request, in order. Every step reads what it needs to know about an operation from the
// contract, so a new operation gets all of them. A wrong order does not compile: see http/pipeline.ts.
import type { Logger } from 'pino';
import { operations, type OperationId } from '../generated/operations.ts';
import type { Config } from './config.ts';
import type { Deps, WriteDeps } from './handlers/deps.ts';
import { createBearer } from './kit/access/bearer.ts';
import { permission } from './kit/access/permission.ts';
import { isAllowed } from './kit/access/roles.ts';
import { createMerchantAccount } from './kit/access/select.ts';
import type { CompiledContract } from './kit/contract/compile.ts';
import type { Handlers } from './kit/contract/handler-types.ts';
import { createExamples, hasBody } from './kit/contract/load.ts';
import { connectionMilliseconds, type Owner } from './kit/database/database.ts';
import { requestDatabaseMilliseconds, type OpenedDatabase } from './kit/database/open.ts';
import { createRecordCall } from './kit/database/rate-limits.ts';
import type { Db, InUnitOfWork } from './kit/database/unit-of-work.ts';
import { createAccessLog, createTrace } from './kit/http/access-log.ts';
import { createAnswer, type Known } from './kit/http/answer.ts';
import { createBody } from './kit/http/body.ts';
import { createOwned, createUnowned } from './kit/http/databases.ts';
import { createDesk, explainAbsence, type DeskDeps } from './kit/http/desk/desk.ts';
import { createExpress, type App } from './kit/http/express.ts';
import { createCors, earlyData, createSecurityHeaders, wellFormed, requestId } from './kit/http/headers.ts';
import { createWaitForStart, serveHealth, type Life } from './kit/http/health.ts';
import type { Arrived, Routed, Trail } from './kit/http/known.ts';
import { createRateLimit } from './kit/http/limits.ts';
import { forEvery, pipeline, whereOnly } from './kit/http/pipeline.ts';
import { createRoute, type Router } from './kit/http/route.ts';
import { serveStatic } from './kit/http/static.ts';
import { createValidate } from './kit/http/validate.ts';
import { createFallback, createWriteError } from './kit/http/write-error.ts';
import { createKeptAnswers, createRelease } from './kit/idempotency/changes.ts';
import type { Observing } from './kit/upkeep/observe.ts';
import type { Secrets } from './open-secrets.ts';
import type { GuardedProviders } from './providers/index.ts';
import { recordKeyPairUse } from './resources/api-key-pairs/changes.ts';
import { findSigningPair } from './resources/api-key-pairs/queries.ts';
import { serveBadges } from './resources/card-schemes/badges.ts';
import { findAccount, findFirstAccount } from './resources/merchant-accounts/queries.ts';
import { createNumberBuckets } from './resources/number-limits/changes.ts';
import { createVelocityLimit } from './resources/number-limits/velocity.ts';
import { serveApprovals } from './sandbox/approvals.ts';
import { serveSandboxPackage } from './sandbox/package.ts';

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
  const newDeadline = () => ({
    left: requestDatabaseMilliseconds,
    turn: { left: connectionMilliseconds },
  });
  // One statement serves several requests of an owner, so its deadline is none of theirs.
  const inNewTime = (owner: Owner) => dbFor({ owner, deadline: newDeadline() });
  const recordCall = createRecordCall(inNewTime);
  const numberBuckets = createNumberBuckets(inNewTime);
  const ownTime = () => ({
    left: requestDatabaseMilliseconds,
    turn: { left: requestDatabaseMilliseconds },
  });
  const releaseFor = createRelease((owner) => dbFor({ owner, deadline: ownTime() }));
  const keptAnswers = createKeptAnswers(vault);
  const shared = { environment, cursors, vault, keysOf, providers: deps.providers, example, now };
  const depsOf = (known: Known, { traceId }: Trail): Deps => {
    const { db, owner, deadline, caller, selection, requestId } = known;
    return {
      ...shared,
      recordNumbers: (numbers, limit) => numberBuckets.record({ owner, deadline }, numbers, limit),
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
    };
  };

  const app = createExpress();
  const arrived = forEvery(
    app,
    pipeline().step(requestId).step(createWaitForStart(life)).step(createUnowned(dbFor, newDeadline)),
  );
  app.use(createSecurityHeaders(publicUrl));
  // Before CORS, which lets pages of all origins read what they get.
  if (desk) app.use(createDesk(desk, find.isKnown));
  app.use(createCors(() => Object.values(operations)));
  app.use(createAccessLog(log, { noteRequest: observing.metrics?.noteRequest, keep: desk?.requests.note }));
  if (observing.tracing) app.use(createTrace(observing.tracing));
  const accepted = forEvery(app, arrived.step(wellFormed));
  const route = createRoute(
    (_known: Arrived, req): Routed => find(req),
    () => document,
  );
  const account = createMerchantAccount({
    first: ({ unownedDb }: Arrived) => findFirstAccount(unownedDb),
    find: (id, { unownedDb }) => findAccount(unownedDb, id),
  });
  const answer = createAnswer({
    ...{ handlers: deps.handlers, responses, unitsOn, depsOf, keysOf, recordCall },
    limitVelocity: createVelocityLimit({ recordCall, numberBuckets, keysOf, cardsPerMinute, environment }),
    keptAnswersOn: (db, owner) => keptAnswers(db, releaseFor(owner)),
  });
  const checks = accepted
    .step(route)
    .step(earlyData)
    .step(createBearer({ findSigningPair, recordKeyPairUse, log, now, dbFor }))
    .step(permission)
    .step(account)
    .step(createOwned(dbFor))
    .step(createRateLimit(recordCall))
    .step(createBody(config.bodyLimit, ({ operation }: Routed) => withBody.has(operation.id)))
    .step(createValidate(() => validator))
    // Claims the Idempotency-Key or repeats the earlier answer, runs the handler, and checks and keeps its answer before the commit.
    .step(answer);
  app.use(whereOnly(find.isKnown, checks));
  serveHealth(app, life, database.findUnready);
  serveBadges(app);
  serveStatic(app, {
    document,
    siteDir: deps.siteDir,
    isSandbox: environment === 'sandbox',
    hasConsole: desk !== undefined,
    ownUrl: environment === 'sandbox' && isReachable(config.publicUrl) ? publicUrl : undefined,
  });
  if (environment === 'sandbox') {
    serveApprovals(app, arrived, { pagesDir: deps.pagesDir, unitsOn });
    serveSandboxPackage(app);
  }
  if (desk) app.use(explainAbsence);
  // Refuses what is neither an operation nor a page.
  forEvery(app, accepted.step(route));
  app.use(createWriteError(responses, log));
  app.use(createFallback(log));
  return app;
}

/** A server that listens on all addresses has none, unless PUBLIC_URL names it. */
const isReachable = (url: string) => !['0.0.0.0', '[::]'].includes(new URL(url).hostname);
