// Composition root: config → contract → database → app → listen. main.ts uses it, and tests do with port 0.
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from 'pino';
import { savePublicUrl } from './database/environment.ts';
import { findMissingKeys } from './secrets/reseal.ts';
import { createUnitOfWork } from './database/unit-of-work.ts';
import { createApp } from './app.ts';
import { defaultDataDir, type Config } from './config.ts';
import { compileContract, type CompiledContract } from './contract/compile.ts';
import { loadContract, projectRoot } from './contract/load.ts';
import type { WriteDeps } from './handlers/deps.ts';
import { handlers } from './handlers/index.ts';
import { operations, type Handlers } from '../generated/operations.ts';
import { firstCall, forOperator } from './hints.ts';
import { isLoopback } from './http/desk/guard.ts';
import { createRecent } from './http/desk/feed.ts';
import { listen, requireFreePort } from './http/listen.ts';
import { createRouter } from './http/route.ts';
import { rememberNumbersMilliseconds } from './http/limits.ts';
import { startJobs } from './upkeep/jobs.ts';
import { countFaults, observe, refusePort, type Observing } from './upkeep/observe.ts';
import { OperatorFault } from './faults.ts';
import { loadProviders, type Providers } from './providers/index.ts';
import { createActivity, makeSandboxToken } from './sandbox/activity.ts';
import { fillSandbox } from './sandbox/first-start.ts';
import type { Vault } from './secrets/vault.ts';
import { openSecrets } from './secrets/open.ts';
import type { Db } from './database/database.ts';
import { findActivePairNamed } from './resources/api-key-pairs/queries.ts';
import { findFirstAccount } from './resources/merchant-accounts/queries.ts';
import { createNotify } from './database/notify.ts';
import { openReadyDatabase, type OpenedDatabase } from './database/open.ts';
import type { DeliverDeps } from './events/deliver.ts';
import { createOutbox } from './events/outbox.ts';
import { withJitter } from './events/attempts.ts';
import { sendOptions } from './events/send.ts';
import { defaultLimits, startWorker, type Worker, type WorkerLimits } from './events/worker.ts';

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
  const { config, log, now = () => new Date() } = options;
  const { environment } = config;
  for (const warning of config.warnings) log.warn(warning);
  await requireFreePort(config);
  if (config.metrics) await requireFreePort(config.metrics).catch(refusePort(config.metrics));
  const contract = options.contract ?? (await compileContract(loadContract()));
  const providers = { ...(await loadProviders(config)), ...options.providers };
  if (!providers.giftCards)
    log.warn('no gift card provider is configured: balance requests fail with 502 (set PROVIDERS)');
  let isStopping = false;
  const database = await openReadyDatabase({
    environment,
    databaseUrl: config.databaseUrl,
    dataDir: config.dataDir,
    pooler: config.databasePooler,
    servesRequests: true,
    log: (message) => {
      // The embedded PostgreSQL stops with us, and may end a connection before its pool has closed it.
      if (isStopping && config.databaseUrl === undefined) return;
      log.warn(message);
    },
  });
  const { background, migrated } = database;
  if (migrated.length > 0)
    log.info({ migrations: migrated.length, last: migrated.at(-1) }, 'the database was migrated');
  let observing: Observing | undefined;
  try {
    // After the database: one that belongs to production is refused before anything is created.
    const secrets = openSecrets(config);
    const observed = await observe(config);
    observing = observed;
    const { metrics, tracing } = observed;
    const responses = metrics
      ? countFaults(contract.responses, metrics.noteContractFault)
      : contract.responses;
    observed.readFrom(database);
    if (environment === 'sandbox' && (await fillSandbox(background.db, config.dataDir, now(), secrets)))
      log.info('sample data was added to the sandbox');
    await refuseWrongKeys(background.db, { config, vault: secrets.vault, log });
    if (environment === 'production') await warnOfData(background.db, log);
    let publicUrl = config.publicUrl;
    const dataDir = config.dataDir === defaultDataDir ? undefined : config.dataDir;
    let worker: Worker | undefined;
    let listener: { stop: () => void } | undefined;
    const unitsOn = createUnitOfWork({
      outbox: createOutbox(responses, tracing?.current),
      publicUrl: () => publicUrl,
      now,
      onPublished: createNotify(background.pool),
    });
    const recent = createRecent(now);
    const find = createRouter(Object.values(operations));
    const app = createApp({
      find,
      ...contract,
      responses,
      noteRequest: metrics?.noteRequest,
      tracing,
      ...secrets,
      environment,
      providers,
      handlers: options.handlers ?? handlers,
      database,
      unitsOn,
      publicUrl: () => publicUrl,
      bodyLimit: config.bodyLimit,
      cardsPerMinute: config.cardsPerMinute,
      siteDir: options.siteDir ?? join(projectRoot, 'site'),
      desk:
        environment === 'sandbox' && isLoopback(config.host)
          ? {
              recent,
              activity: createActivity(background.db, now),
              pagesDir: options.pagesDir ?? join(projectRoot, 'pages'),
              firstCall: () => firstCall(publicUrl, dataDir),
              makeToken: () => makeSandboxToken(config.dataDir),
            }
          : undefined,
      isStopping: () => isStopping,
      log,
      now,
    });
    const { port, connections, close } = await listen(app, config, {
      note: (request) => {
        metrics?.noteRequest(undefined, request.status, 0);
        log.info(request);
        recent.note(request);
      },
      allowOf: find.allowOf,
    });
    if (config.webhookWorker) {
      const { limits = defaultLimits, ...webhooks } = options.webhooks ?? {};
      worker = startWorker(
        {
          db: background.db,
          isSharded: database.isSharded,
          vault: secrets.vault,
          log,
          now,
          options: sendOptions(config),
          schedule: withJitter,
          noteAttempt: metrics?.noteAttempt,
          tracing,
          ...webhooks,
        },
        limits,
      );
      listener = background.onDeliveries(worker.wake);
    }
    if (config.port === 0) publicUrl = publicUrl.replace(/:0$/, `:${port}`);
    await savePublicUrl(background.db, publicUrl);
    const jobs = startJobs({
      db: background.db,
      inUnitOfWork: unitsOn(background.db),
      rememberNumbersMilliseconds,
      log,
      now,
      eventRetentionDays: config.eventRetentionDays,
      auditRetentionDays: config.auditRetentionDays,
      everyMilliseconds: options.jobMilliseconds,
    });
    let closed: Promise<void> | undefined;
    return {
      url: publicUrl,
      port,
      firstCall: firstCall(publicUrl, dataDir),
      metricsPort: observed.metricsPort,
      connections,
      database,
      close: () =>
        (closed ??= (async () => {
          isStopping = true;
          listener?.stop();
          // Requests are served on until load balancers have noticed.
          if (config.shutdownDelay) await wait(1000 * config.shutdownDelay);
          try {
            // At the same time, because each of them may take up to 10 s.
            const stopped = await Promise.allSettled([close(), jobs.stop(), worker?.stop()]);
            for (const result of stopped) if (result.status === 'rejected') throw result.reason;
          } finally {
            await observed.close();
            await database.close();
          }
        })()),
    };
  } catch (error) {
    await observing?.close();
    await database.close();
    throw error;
  }
}

/** With a wrong CARD_KEY requests fail. A sandbox only logs it, because its records may be thrown away. */
async function refuseWrongKeys(
  db: Db,
  { config, vault, log }: { config: Config; vault: Vault; log: Logger },
): Promise<void> {
  const found = await findMissingKeys(db, vault);
  if (!found) return;
  const ids = found.missing.join(', ');
  if (found.isWhollyWrong && config.environment === 'production' && config.missingKeys !== 'accept')
    throw new OperatorFault(
      `CARD_KEY fits no stored value: they need key ${ids}. Add it to CARD_KEY. If it is lost, see "A lost key" in docs/guides/keys.md.`,
    );
  log.error(forOperator(`stored values need a key that is missing: ${ids} (add it to CARD_KEY)`));
}

/** What makes requests fail although the service runs. */
async function warnOfData(db: Db, log: Logger): Promise<void> {
  if (!(await findFirstAccount(db, 'all')))
    log.warn(
      'there is no merchant account yet, so most operations answer 404: run payments accounts create default --name Default',
    );
  const left = await findActivePairNamed(db, 'Sandbox');
  if (left)
    log.warn(
      `the active key pair ${left.id} is named Sandbox, as a sandbox creates it: if nobody needs it, run payments keys deactivate ${left.id}`,
    );
}
