// Composition root: open → build → listen → write → serve. main.ts uses it, and tests do with port 0. Whatever fails closes what was
// opened before it, and no request is served before all is ready.
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from 'pino';
import { operations, type Handlers } from '../generated/operations.ts';
import { createApp } from './app.ts';
import { checkData } from './check-data.ts';
import { defaultDataDir, type Config } from './config.ts';
import { compileContract, type CompiledContract } from './contract/compile.ts';
import { loadContract, projectRoot } from './contract/load.ts';
import { savePublicUrl } from './database/environment.ts';
import { openReadyDatabase, type OpenedDatabase } from './database/open.ts';
import { createUnitOfWork } from './database/unit-of-work.ts';
import { nextWait } from './events/attempts.ts';
import type { DeliverDeps } from './events/deliver.ts';
import { createOutbox } from './events/outbox.ts';
import { sendOptions } from './events/send.ts';
import { defaultLimits, startWorker, type Worker, type WorkerLimits } from './events/worker.ts';
import type { WriteDeps } from './handlers/deps.ts';
import { handlers } from './handlers/index.ts';
import { firstCall } from './hints.ts';
import { createRecent } from './http/desk/feed.ts';
import { isLoopback } from './http/desk/guard.ts';
import type { Life } from './http/health.ts';
import { rememberNumbersMilliseconds } from './http/limits.ts';
import { listen, requireFreePort } from './http/listen.ts';
import { createRouter } from './http/route.ts';
import { loadProviders, type Providers } from './providers/index.ts';
import { createActivity, makeSandboxToken } from './sandbox/activity.ts';
import { openSecrets } from './secrets/open.ts';
import { startJobs } from './upkeep/jobs.ts';
import { countFaults, observe, refusePort, type Observing } from './upkeep/observe.ts';

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

export interface ServiceOptions {
  config: Config;
  log: Logger;
  contract?: CompiledContract;
  handlers?: Handlers<WriteDeps>;
  providers?: Partial<Providers>;
  now?: () => Date;
  /** Interval of the daily jobs, for tests. */
  jobMilliseconds?: number;
  /** The built docs and the sandbox's pages, for tests. */
  siteDir?: string;
  pagesDir?: string;
  /** For tests, which cannot wait for the real retry schedule. */
  webhooks?: Partial<Pick<DeliverDeps, 'options' | 'schedule' | 'now'> & { limits: WorkerLimits }>;
}

export async function startService(options: ServiceOptions): Promise<Service> {
  const { config } = options;
  const life = beginLife();
  const parts = await openParts(options, life);
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
    const onPublished = () => worker?.wake();
    const { app, find, recent, unitsOn, setPublicUrl } = buildApp(options, parts, { life, onPublished });
    const server = await listen(app, config, {
      note: (request) => {
        observing.metrics?.noteRequest(undefined, request.status, 0);
        options.log.info(request);
        recent.note(request);
      },
      allowOf: find.allowOf,
    });
    running.push(server.close);
    const url = config.port === 0 ? config.publicUrl.replace(/:0$/, `:${server.port}`) : config.publicUrl;
    setPublicUrl(url);
    await savePublicUrl(database.background.db, url);
    life.serve();
    running.push(startDailyJobs(options, parts, unitsOn).stop);
    if (config.webhookWorker) {
      worker = startDeliveries(options, parts);
      running.push(worker.stop);
    }
    return {
      url,
      port: server.port,
      firstCall: firstCall(url, shownDataDir(config)),
      metricsPort: observing.metricsPort,
      connections: server.connections,
      database,
      close: () => {
        life.phase = 'stopping';
        // Requests are served on until load balancers have noticed.
        return close(1000 * config.shutdownDelay);
      },
    };
  } catch (error) {
    life.fail(error);
    // What cannot be closed either is less interesting than why the start failed.
    await close(0).catch(() => undefined);
    throw error;
  }
}

/** What `life` of a service is made with: requests wait until `serve`, and fail with `fail`. */
function beginLife() {
  let serve: () => void = () => undefined;
  let fail: (error: unknown) => void = () => undefined;
  const started = new Promise<void>((resolve, reject) => {
    serve = resolve;
    fail = reject;
  });
  // Perhaps no request waits for it.
  started.catch(() => undefined);
  const life: Life = { phase: 'starting', started };
  return Object.assign(life, {
    serve: () => {
      life.phase = 'serving';
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
async function openParts(options: ServiceOptions, life: Life) {
  const { config, log, now = () => new Date() } = options;
  for (const warning of config.warnings) log.warn(warning);
  await requireFreePort(config);
  if (config.metrics) await requireFreePort(config.metrics).catch(refusePort(config.metrics));
  const contract = options.contract ?? (await compileContract(loadContract()));
  const providers = { ...(await loadProviders(config)), ...options.providers };
  if (!providers.giftCards)
    log.warn('no gift card provider is configured: balance requests fail with 502 (set PROVIDERS)');
  const database = await openReadyDatabase({
    environment: config.environment,
    databaseUrl: config.databaseUrl,
    dataDir: config.dataDir,
    pooler: config.databasePooler,
    servesRequests: true,
    log: (message) => {
      // The embedded PostgreSQL stops with us, and may end a connection before its pool has closed it.
      if (life.phase === 'stopping' && config.databaseUrl === undefined) return;
      log.warn(message);
    },
  });
  const { migrated } = database;
  if (migrated.length > 0)
    log.info({ migrations: migrated.length, last: migrated.at(-1) }, 'the database was migrated');
  let observing: Observing | undefined;
  const close = async () => {
    await observing?.close();
    await database.close();
  };
  try {
    // After the database: one that belongs to production is refused before anything is created.
    const secrets = openSecrets(config);
    observing = await observe(config);
    observing.readFrom(database);
    await checkData(database.background.db, { config, log, now, secrets });
    const { metrics } = observing;
    const responses = metrics
      ? countFaults(contract.responses, metrics.noteContractFault)
      : contract.responses;
    return { contract: { ...contract, responses }, providers, database, secrets, observing, now, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Unless it is the default. */
const shownDataDir = ({ dataDir }: Config) => (dataDir === defaultDataDir ? undefined : dataDir);

function buildApp(
  { config, log, ...options }: ServiceOptions,
  parts: Parts,
  { life, onPublished }: { life: Life; onPublished: () => void },
) {
  const { contract, database, secrets, observing, providers, now } = parts;
  const { metrics, tracing } = observing;
  // With port 0 it is known when the port is.
  let publicUrl = config.publicUrl;
  const unitsOn = createUnitOfWork({
    outbox: createOutbox(contract.responses, tracing?.current),
    publicUrl: () => publicUrl,
    now,
    onPublished,
  });
  const recent = createRecent(now);
  const find = createRouter(Object.values(operations));
  const hasDesk = config.environment === 'sandbox' && isLoopback(config.host);
  const desk = {
    recent,
    activity: createActivity(database.background.db, now),
    pagesDir: options.pagesDir ?? join(projectRoot, 'pages'),
    firstCall: () => firstCall(publicUrl, shownDataDir(config)),
    makeToken: () => makeSandboxToken(config.dataDir),
  };
  const app = createApp({
    ...contract,
    ...secrets,
    find,
    noteRequest: metrics?.noteRequest,
    tracing,
    environment: config.environment,
    providers,
    handlers: options.handlers ?? handlers,
    database,
    unitsOn,
    publicUrl: () => publicUrl,
    bodyLimit: config.bodyLimit,
    cardsPerMinute: config.cardsPerMinute,
    siteDir: options.siteDir ?? join(projectRoot, 'site'),
    desk: hasDesk ? desk : undefined,
    life,
    log,
    now,
  });
  const setPublicUrl = (url: string) => (publicUrl = url);
  return { app, find, recent, unitsOn, setPublicUrl };
}

const startDailyJobs = (
  { config, log, jobMilliseconds }: ServiceOptions,
  { database: { background }, now }: Parts,
  unitsOn: ReturnType<typeof createUnitOfWork>,
) =>
  startJobs({
    db: background.db,
    inUnitOfWork: unitsOn(background.db),
    rememberNumbersMilliseconds,
    log,
    now,
    eventRetentionDays: config.eventRetentionDays,
    auditRetentionDays: config.auditRetentionDays,
    everyMilliseconds: jobMilliseconds,
  });

const startDeliveries = (
  { config, log, webhooks: { limits = defaultLimits, ...webhooks } = {} }: ServiceOptions,
  { database, secrets, observing, now }: Parts,
): Worker =>
  startWorker(
    {
      db: database.background.db,
      vault: secrets.vault,
      log,
      now,
      options: sendOptions(config),
      schedule: nextWait,
      noteAttempt: observing.metrics?.noteAttempt,
      tracing: observing.tracing,
      ...webhooks,
    },
    limits,
  );
