// Composition root: open → build → listen → write → serve. main.ts uses it, and tests do with port 0. Whatever fails closes what was
// opened before it, and no request is served before all is ready.
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from 'pino';
import { operations } from '../generated/operations.ts';
import { createApp } from './app.ts';
import type { Config } from './config.ts';
import { openReadyDatabase, type OpenedDatabase } from './database.ts';
import * as domain from './domain.ts';
import type { WriteDeps } from './handlers/deps.ts';
import { handlers } from './handlers/index.ts';
import { compileContract, type CompiledContract } from './kit/contract/compile.ts';
import type { Handlers } from './kit/contract/handler-types.ts';
import { loadContract, projectRoot } from './kit/contract/load.ts';
import { savePublicUrl } from './kit/database/environment.ts';
import { createUnitOfWork } from './kit/database/unit-of-work.ts';
import { nextWait } from './kit/events/attempts.ts';
import type { DeliverDeps } from './kit/events/deliver.ts';
import { createOutbox } from './kit/events/outbox.ts';
import { sendOptions } from './kit/events/send.ts';
import { defaultLimits, startWorker, type Worker, type WorkerLimits } from './kit/events/worker.ts';
import { isLoopback, type DashboardDeps } from './kit/http/dashboard/dashboard.ts';
import { createEventFeed, makeSandboxToken } from './kit/http/dashboard/events.ts';
import { createRequestFeed } from './kit/http/dashboard/feed.ts';
import type { Life } from './kit/http/health.ts';
import { listen, requireFreePort } from './kit/http/listen.ts';
import { createPacking } from './kit/http/package.ts';
import { createRouter } from './kit/http/route.ts';
import { curlOf, isInstallation } from './kit/installation.ts';
import { startJobs } from './kit/maintenance/jobs.ts';
import { countFaults, observe, refusePort, type Observing } from './kit/maintenance/observe.ts';
import { openSecrets } from './open-secrets.ts';
import { prepareData } from './prepare-data.ts';

const [{ prepareServing }, { facts, sealedColumns }] = await Promise.all([
  domain.loadServing(),
  domain.loadFacts(),
]);

export interface Service {
  url: string;
  port: number;
  /** A command to try. */
  firstCall: string;
  /** Undefined when metrics are off. */
  metricsPort: number | undefined;
  connections: () => Promise<number>;
  database: OpenedDatabase;
  /** Finishes running requests, then closes everything. Ends within 20 s after SHUTDOWN_DELAY, whatever is under way. */
  close: () => Promise<void>;
}

/** What a service is made of. Only tests, and a sandbox that can be reset, replace any of it. */
export interface ServiceParts extends domain.OwnParts {
  contract: CompiledContract;
  listen: typeof listen;
  /** Whether nobody else uses the database, so that it may end connections when this stops. */
  ownsDatabase: boolean;
  handlers: Handlers<WriteDeps>;
  /** The clock of this process, for tokens and the expiry of new cards. */
  now: () => Date;
  /** The built docs and the sandbox's pages. */
  siteDir: string;
  pagesDir: string;
  /** Whether it packs this checkout beside itself, to offer it as /sandbox.tgz: only `npm start` does. */
  packs: boolean;
  /** Interval of the daily jobs. */
  jobMilliseconds: number;
  webhooks: Partial<Pick<DeliverDeps, 'options' | 'schedule'> & { limits: WorkerLimits }>;
}

export async function startService(
  config: Config,
  log: Logger,
  replaced: Partial<ServiceParts> = {},
): Promise<Service> {
  const life = beginLife(config.publicUrl);
  const parts = await openParts(config, log, life, replaced);
  const { database, observing } = parts;
  // They use the parts, so they are closed before them.
  const running: (() => Promise<void>)[] = [];
  let closed: Promise<void> | undefined;
  const close = (delayMilliseconds: number) =>
    (closed ??= (async () => {
      if (delayMilliseconds > 0) await wait(delayMilliseconds);
      try {
        // At the same time, because each of them may take up to 10 s.
        const stopped = await Promise.allSettled(running.map((stop) => stop()));
        for (const result of stopped) if (result.status === 'rejected') throw result.reason;
      } finally {
        await parts.close();
      }
    })());
  try {
    let worker: Worker | undefined;
    const { app, find, requests, unitsOn } = buildApp(parts, life, () => worker?.wake());
    const server = await parts.listen(app, config, {
      note: (request) => {
        observing.metrics?.noteRequest(undefined, request.status, 0);
        log.info(request);
        requests.note(request);
      },
      allowOf: find.allowOf,
    });
    running.push(server.close);
    const url = config.port === 0 ? config.publicUrl.replace(/:0$/, `:${server.port}`) : config.publicUrl;
    await savePublicUrl(database.background.db, url);
    life.serve(url);
    running.push(startDailyJobs(parts, unitsOn).stop);
    if (parts.packing) running.push(parts.packing.start());
    if (config.webhookWorker) {
      worker = startDeliveries(parts);
      running.push(worker.stop);
    }
    return {
      url,
      port: server.port,
      firstCall: curlOf(url + domain.firstCall, config.dataDir),
      metricsPort: observing.metricsPort,
      connections: server.connections,
      database,
      close: () => {
        life.phase = 'stopping';
        server.endKeepAlive();
        // Requests are served on until load balancers have noticed.
        return close(1000 * config.shutdownDelay);
      },
    };
  } catch (error) {
    life.fail(error);
    // Why the start failed matters more than what then could not be closed.
    await close(0).catch(() => undefined);
    throw error;
  }
}

/** Requests wait until `serve`, and fail with `fail`. */
function beginLife(publicUrl: string) {
  let serve: () => void = () => undefined;
  let fail: (error: unknown) => void = () => undefined;
  const started = new Promise<void>((resolve, reject) => {
    serve = resolve;
    fail = reject;
  });
  // If no request waits for it, nobody else handles a failure.
  started.catch(() => undefined);
  const life: Life = { phase: 'starting', publicUrl, started };
  return Object.assign(life, {
    serve: (url: string) => {
      Object.assign(life, { phase: 'serving', publicUrl: url });
      serve();
    },
    fail: (error: unknown) => {
      life.phase = 'stopping';
      fail(error);
    },
  });
}

type Parts = Awaited<ReturnType<typeof openParts>>;

/** Everything that is opened before the port is: contract, providers, database, secrets, metrics. */
async function openParts(config: Config, log: Logger, life: Life, replaced: Partial<ServiceParts>) {
  const { metricsPort, metricsHost } = config;
  const { ownsDatabase = config.databaseUrl === undefined } = replaced;
  const packs = replaced.packs === true && config.environment === 'sandbox' && !isInstallation();
  for (const warning of config.warnings) log.warn(warning);
  // Whoever listens instead may not have the port yet.
  if (!replaced.listen) await requireFreePort(config);
  if (metricsPort !== undefined) {
    const address = { host: metricsHost, port: metricsPort };
    await requireFreePort(address).catch(refusePort(address));
  }
  const contract = replaced.contract ?? (await compileContract(loadContract()));
  const serving = await prepareServing({ config, log, document: contract.document }, replaced);
  const database = await openReadyDatabase({
    environment: config.environment,
    databaseUrl: config.databaseUrl,
    dataDir: config.dataDir,
    isPooled: config.databasePooler !== undefined,
    servesRequests: true,
    log: (message) => {
      // It may stop, or be replaced, before a pool has closed its connections.
      if (life.phase === 'stopping' && ownsDatabase) return;
      log.warn(message);
    },
  });
  const { migrated, newer } = database;
  if (migrated.length > 0)
    log.info({ migrations: migrated.length, last: migrated.at(-1) }, 'the database was migrated');
  if (newer !== undefined)
    log.info({ last: newer }, 'a newer version than this one has migrated the database');
  let observing: Observing | undefined;
  const close = async () => {
    await observing?.close();
    await database.close();
  };
  try {
    const made = {
      config,
      log,
      handlers,
      listen,
      now: () => new Date(),
      siteDir: join(projectRoot, 'site'),
      pagesDir: join(projectRoot, 'pages'),
      ...replaced,
    };
    // After the database: one that belongs to production is refused before anything is created.
    const secrets = openSecrets(config);
    observing = await observe(config, database, facts, made.now);
    await prepareData(database.background.db, { ...made, secrets, sealedColumns });
    const { metrics } = observing;
    const responses = metrics
      ? countFaults(contract.responses, metrics.noteContractFault)
      : contract.responses;
    return {
      ...made,
      contract: { ...contract, responses },
      serving,
      database,
      secrets,
      observing,
      packing: packs ? createPacking(log, () => life.phase === 'stopping') : undefined,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The landing page and the console are for people at this machine. */
export const hasDashboard = ({ environment, host, publicUrl }: Config): boolean =>
  environment === 'sandbox' && [host, new URL(publicUrl).hostname].every(isLoopback);

function buildApp(parts: Parts, life: Life, onPublished: () => void) {
  const { config, contract, database, observing, now } = parts;
  const unitsOn = createUnitOfWork({
    outbox: createOutbox(contract.responses, observing.tracing?.current),
    publicUrl: () => life.publicUrl,
    onPublished,
  });
  const requests = createRequestFeed(now);
  const find = createRouter(Object.values(operations));
  const { title: name, version } = contract.document.info;
  const dashboard: DashboardDeps = {
    pagesDir: parts.pagesDir,
    facts: { name, version, kind: 'sandbox' },
    requests,
    events: createEventFeed(database.background.db),
    firstCall: () => curlOf(life.publicUrl + domain.firstCall, config.dataDir),
    makeToken: () => makeSandboxToken(config.dataDir),
  };
  const app = createApp({
    ...parts,
    find,
    unitsOn,
    dashboard: hasDashboard(config) ? dashboard : undefined,
    life,
  });
  return { app, find, requests, unitsOn };
}

const startDailyJobs = (
  { config, log, database: { background }, now, jobMilliseconds }: Parts,
  unitsOn: ReturnType<typeof createUnitOfWork>,
) =>
  startJobs({
    db: background.db,
    inUnitOfWork: unitsOn(background.db),
    log,
    facts,
    here: now,
    eventRetentionDays: config.eventRetentionDays,
    auditRetentionDays: config.auditRetentionDays,
    everyMilliseconds: jobMilliseconds,
  });

function startDeliveries({ config, log, database, secrets, observing, webhooks = {} }: Parts): Worker {
  const { limits = defaultLimits, ...replaced } = webhooks;
  return startWorker(
    {
      db: database.background.db,
      vault: secrets.vault,
      log,
      options: sendOptions(config),
      schedule: nextWait,
      noteAttempt: observing.metrics?.noteAttempt,
      tracing: observing.tracing,
      ...replaced,
    },
    limits,
  );
}
