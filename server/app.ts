// The request pipeline: the checks of a request, in order. Every step reads what it needs to know about an operation from the
// contract, so a new operation gets all of them. A wrong order does not compile: see http/pipeline.ts.
import type { Logger } from 'pino';
import { operations, type OperationId } from '../generated/operations.ts';
import type { Config } from './config.ts';
import type { Serving } from './domain.ts';
import type { Deps, WriteDeps } from './handlers/deps.ts';
import { findAccount, findFirstAccount } from './kit/access/accounts/queries.ts';
import { createBearer } from './kit/access/bearer.ts';
import { recordKeyPairUse } from './kit/access/key-pairs/changes.ts';
import { findSigningPair } from './kit/access/key-pairs/queries.ts';
import { permission } from './kit/access/permission.ts';
import { isAllowed } from './kit/access/roles/rules.ts';
import { createMerchantAccount } from './kit/access/select.ts';
import type { CompiledContract } from './kit/contract/compile.ts';
import type { Handlers } from './kit/contract/handler-types.ts';
import { createExamples, hasBody } from './kit/contract/load.ts';
import { newDeadline, requestMilliseconds } from './kit/database/connection.ts';
import type { Owner } from './kit/database/database.ts';
import type { OpenedDatabase } from './kit/database/open.ts';
import { createRecordCall } from './kit/database/rate-limits.ts';
import type { Db, InUnitOfWork } from './kit/database/unit-of-work.ts';
import { createAccessLog, createTrace } from './kit/http/access-log.ts';
import { createAnswer, type Known } from './kit/http/answer.ts';
import { createBody } from './kit/http/body.ts';
import { createDashboard, explainAbsence, type DashboardDeps } from './kit/http/dashboard/dashboard.ts';
import { createOwned, createUnowned } from './kit/http/databases.ts';
import { createExpress, type App } from './kit/http/express.ts';
import { createCors, earlyData, createSecurityHeaders, wellFormed, requestId } from './kit/http/headers.ts';
import { createWaitForStart, serveHealth, type Life } from './kit/http/health.ts';
import type { Arrived, Routed, Trail } from './kit/http/known.ts';
import { createRateLimit } from './kit/http/limits.ts';
import { serveSandboxPackage } from './kit/http/package.ts';
import { forEvery, pipeline, whereOnly, type Passed, type Pipeline } from './kit/http/pipeline.ts';
import { createRoute, type Router } from './kit/http/route.ts';
import { serveStatic } from './kit/http/static.ts';
import { createValidate } from './kit/http/validate.ts';
import { createFallback, createWriteError } from './kit/http/write-error.ts';
import { createKeptAnswers, createRelease } from './kit/idempotency/changes.ts';
import type { Observing } from './kit/maintenance/observe.ts';
import type { Secrets } from './open-secrets.ts';

interface AppParts {
  config: Config;
  contract: CompiledContract;
  secrets: Secrets;
  serving: Serving;
  handlers: Handlers<WriteDeps>;
  database: OpenedDatabase;
  find: Router<(typeof operations)[OperationId]>;
  unitsOn: (db: Db) => InUnitOfWork;
  siteDir: string;
  pagesDir: string;
  /** The sandbox's pages for developers. Undefined in production, and if other machines can reach this server. */
  dashboard: DashboardDeps | undefined;
  life: Life;
  observing: Pick<Observing, 'metrics' | 'tracing'>;
  packing: { file: () => string | undefined } | undefined;
  log: Logger;
  now: () => Date;
}

export function createApp(parts: AppParts): App {
  const { config, contract, database, find, dashboard, life, log } = parts;
  const isSandbox = config.environment === 'sandbox';
  const own = createOwn(parts);
  const route = createRoute(
    (_known: Arrived, req): Routed => find(req),
    () => contract.document,
  );

  const app = createExpress();
  const arrived = forEvery(
    app,
    pipeline().step(requestId).step(createWaitForStart(life)).step(createUnowned(database.dbFor)),
  );
  app.use(createSecurityHeaders(config.publicUrl.startsWith('https://')));
  // Before CORS, which lets pages of all origins read what they get.
  if (dashboard) app.use(createDashboard(dashboard, find.isKnown));
  app.use(createCors(() => Object.values(operations)));
  for (const note of createNotes(parts)) app.use(note);
  const accepted = forEvery(app, arrived.step(wellFormed));

  app.use(whereOnly(find.isKnown, checksOf(parts, own, accepted.step(route))));
  serveHealth(app, life, database.findUnready);
  own.addRoutes(app, arrived, parts);
  serveStatic(app, {
    document: contract.document,
    siteDir: parts.siteDir,
    isSandbox,
    hasConsole: dashboard !== undefined,
    ownUrl: isSandbox && isReachable(config.publicUrl) ? () => life.publicUrl : undefined,
  });
  if (isSandbox) serveSandboxPackage(app, { log, file: parts.packing?.file });
  if (dashboard) app.use(explainAbsence);
  // Refuses what is neither an operation nor a page.
  forEvery(app, accepted.step(route));
  app.use(createWriteError(contract.responses, log));
  app.use(createFallback(log));
  return app;
}

type Own = ReturnType<typeof createOwn>;

/** What payments has of its own, and the counters that it shares with the kit. */
function createOwn({ serving, secrets: { keysOf }, database: { dbFor }, observing: { metrics } }: AppParts) {
  // One statement serves several requests of an owner, so its deadline is none of theirs.
  const dbOf = (owner: Owner) => dbFor({ owner, deadline: newDeadline() });
  const recordCall = createRecordCall(dbOf);
  return { ...serving({ metrics, dbOf, recordCall, keysOf }), recordCall };
}

const createNotes = ({ log, observing: { metrics, tracing }, dashboard }: AppParts) => [
  createAccessLog(log, { noteRequest: metrics?.noteRequest, keep: dashboard?.requests.note }),
  ...(tracing ? [createTrace(tracing)] : []),
];

function checksOf(parts: AppParts, own: Own, routed: Pipeline<Arrived & Routed & Passed<'wellFormed'>>) {
  const { config, contract, database, log, now } = parts;
  const { dbFor } = database;
  const withBody = new Set<string>(
    Object.values(operations).flatMap((operation) =>
      hasBody(contract.document, operation) ? operation.id : [],
    ),
  );
  const account = createMerchantAccount({
    first: ({ unownedDb }: Arrived) => findFirstAccount(unownedDb),
    find: (id, { unownedDb }) => findAccount(unownedDb, id),
  });
  return (
    routed
      .step(earlyData)
      .step(createBearer({ findSigningPair, recordKeyPairUse, log, now, dbFor }))
      .step(permission)
      .step(account)
      .step(createOwned(dbFor))
      .step(createRateLimit(own.recordCall))
      .step(createBody(config.bodyLimit, ({ operation }: Routed) => withBody.has(operation.id)))
      .step(createValidate(() => contract.validator))
      // Claims the Idempotency-Key or repeats the earlier answer, runs the handler, and checks and keeps its answer before the commit.
      .step(answerOf(parts, own))
  );
}

function answerOf(parts: AppParts, own: Own) {
  const { contract, database, handlers, life, log, now, unitsOn } = parts;
  const { cursors, keysOf, vault } = parts.secrets;
  const example = createExamples(contract.document);
  const shared = { environment: parts.config.environment, cursors, vault, keysOf, example, now };
  const depsOf = (known: Known, { traceId }: Trail): Deps => {
    const { db, caller, selection, requestId } = known;
    return {
      ...shared,
      ...own.depsOf(known),
      db,
      requestId,
      caller,
      mayCall: (id) => isAllowed(operations[id].scopes, caller.scopes, caller.permissions),
      selection,
      publicUrl: life.publicUrl,
      warn: (message, facts) => {
        const account = selection.kind === 'one' ? selection.id : undefined;
        log.warn({ requestId, traceId, account, ...facts }, message);
      },
    };
  };
  const keptAnswers = createKeptAnswers(vault);
  const releaseFor = createRelease((owner) =>
    database.dbFor({ owner, deadline: newDeadline(requestMilliseconds) }),
  );
  return createAnswer({
    ...{ handlers, responses: contract.responses, unitsOn, depsOf, keysOf },
    recordCall: own.recordCall,
    ownChecks: own.checks,
    keptAnswersOn: (db, owner) => keptAnswers(db, releaseFor(owner)),
  });
}

/** A server that listens on all addresses has none, unless PUBLIC_URL names it. */
const isReachable = (url: string) => !['0.0.0.0', '[::]'].includes(new URL(url).hostname);
