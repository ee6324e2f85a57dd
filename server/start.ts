// Composition root: config → contract → store → app → listen. main.ts uses it, and tests do with port 0.
import { join } from 'node:path';
import type { Logger } from 'pino';
import { notePublicUrl } from './actions/housekeeping.ts';
import { createUnitOfWork } from './actions/unit-of-work.ts';
import { createApp } from './app.ts';
import type { Config } from './config.ts';
import { compileContract, type CompiledContract } from './contract/compile.ts';
import { loadContract, projectRoot } from './contract/load.ts';
import type { Vault } from './domain/vault.ts';
import type { WriteDeps } from './handlers/deps.ts';
import { handlers } from './handlers/index.ts';
import type { Handlers } from '../generated/operations.ts';
import { isLoopback } from './http/desk/guard.ts';
import { listen } from './http/listen.ts';
import { rememberNumbersMilliseconds } from './http/velocity-limit.ts';
import { startJobs } from './jobs.ts';
import { loadProviders, type Providers } from './providers/index.ts';
import { createActivity, makeSandboxToken } from './sandbox/activity.ts';
import { fillSandbox } from './sandbox/first-start.ts';
import { openSecrets } from './secrets.ts';
import type { Db } from './store/database.ts';
import { findFirstAccount } from './store/merchant-accounts.ts';
import { openStore, type OpenedDatabase } from './store/open.ts';
import { sampleKeyIds } from './store/sealing.ts';
import type { DeliverDeps } from './webhooks/deliver.ts';
import { createOutbox } from './webhooks/outbox.ts';
import { openQueue, type Queue } from './webhooks/queue.ts';
import { withJitter } from './webhooks/schedule.ts';
import { sendOptions } from './webhooks/send.ts';
import { startWorker } from './webhooks/worker.ts';

export interface Service {
  url: string;
  port: number;
  connections: () => Promise<number>;
  database: OpenedDatabase;
  /** Finishes running requests, then closes everything. Ends within 20 s, whatever is under way. */
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
  webhooks?: Partial<Pick<DeliverDeps, 'options' | 'schedule' | 'now'>>;
}

export async function startService(options: ServiceOptions): Promise<Service> {
  const { config, log, now = () => new Date() } = options;
  const { environment } = config;
  for (const warning of config.warnings ?? []) log.warn(warning);
  const contract = options.contract ?? (await compileContract(loadContract()));
  const providers = { ...(await loadProviders(config)), ...options.providers };
  if (!providers.giftCards)
    log.warn('no gift card provider is configured: balance requests fail with 502 (set PROVIDERS)');
  const secrets = await openSecrets(config);
  const database = await openStore({
    databaseUrl: config.databaseUrl,
    dataDir: config.dataDir,
    servesRequests: true,
    log: (message) => {
      log.warn(message);
    },
    progress: (message) => {
      log.info(message);
    },
  });
  const { db, background } = database;
  let opened: Queue | undefined;
  try {
    const queue = await openQueue(background.pool, (error: Error) => {
      log.warn({ reason: error.message }, 'the webhook queue failed');
    });
    opened = queue;
    if (environment === 'sandbox' && (await fillSandbox(background.db, config.dataDir, now(), secrets)))
      log.info('sample data was added to the sandbox');
    await warnOfData(background.db, { environment, vault: secrets.vault, log });
    let publicUrl = config.publicUrl;
    const unitOptions = {
      outbox: createOutbox(queue, contract.responses),
      publicUrl: () => publicUrl,
      now,
    };
    const inUnitOfWork = createUnitOfWork({ ...unitOptions, db });
    const app = createApp({
      ...contract,
      ...secrets,
      environment,
      providers,
      handlers: options.handlers ?? handlers,
      database,
      inUnitOfWork,
      publicUrl: () => publicUrl,
      bodyLimit: config.bodyLimit,
      cardsPerMinute: config.cardsPerMinute,
      siteDir: options.siteDir ?? join(projectRoot, 'site'),
      desk:
        environment === 'sandbox' && isLoopback(config.host)
          ? {
              activity: createActivity({
                db: background.db,
                now,
                enqueue: (tx, due) => queue.add(tx, due),
              }),
              pagesDir: options.pagesDir ?? join(projectRoot, 'pages'),
              makeToken: () => makeSandboxToken(config.dataDir),
            }
          : undefined,
      log,
      now,
      warn: (message, error) => {
        log.warn({ err: error }, message);
      },
    });
    const { port, connections, close } = await listen(app, config, (facts) => {
      log.info({ ...facts, status: 400 });
    });
    const worker = config.webhookWorker
      ? startWorker({
          db: background.db,
          queue,
          vault: secrets.vault,
          log,
          now,
          options: sendOptions(config),
          schedule: withJitter,
          ...options.webhooks,
        })
      : undefined;
    if (config.port === 0) publicUrl = publicUrl.replace(/:0$/, `:${port}`);
    await notePublicUrl(background.db, publicUrl);
    const jobs = startJobs({
      db: background.db,
      inUnitOfWork: createUnitOfWork({ ...unitOptions, db: background.db }),
      secrets,
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
      connections,
      database,
      close: () =>
        (closed ??= (async () => {
          try {
            // At the same time, because each of them may take up to 10 s.
            const stopped = await Promise.allSettled([close(), jobs.stop(), worker?.stop()]);
            await queue.close();
            for (const result of stopped) if (result.status === 'rejected') throw result.reason;
          } finally {
            await database.close();
          }
        })()),
    };
  } catch (error) {
    // Otherwise the queue's timers keep the process alive although the start failed.
    await opened?.close();
    await database.close();
    throw error;
  }
}

/** What makes requests fail although the service runs. */
async function warnOfData(
  db: Db,
  { environment, vault, log }: Pick<Config, 'environment'> & { vault: Vault; log: Logger },
): Promise<void> {
  if (environment === 'production' && !(await findFirstAccount(db, [])))
    log.warn(
      'there is no merchant account yet, so most operations answer 404: run payments accounts create default --name Default',
    );
  const lost = (await sampleKeyIds(db)).filter((key) => !vault.canOpen(key));
  if (lost.length > 0)
    log.warn(`stored values need a key that is missing: ${lost.join(', ')} (add it to CARD_KEY)`);
}
