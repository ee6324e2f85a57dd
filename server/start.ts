// Puts the parts together: config → contract → store → app → listen. main.ts runs it for people, tests run it on port 0.
import { join } from 'node:path';
import type { Logger } from 'pino';
import { createApp } from './app.ts';
import type { Config } from './config.ts';
import { compileContract, type CompiledContract } from './contract/compile.ts';
import { loadContract } from './contract/load.ts';
import type { Deps } from './handlers/deps.ts';
import { handlers } from './handlers/index.ts';
import type { Handlers } from '../generated/operations.ts';
import { listen } from './http/listen.ts';
import { startJobs } from './jobs.ts';
import { createServices } from './services.ts';
import { furnishSandbox } from './sandbox/first-start.ts';
import { secretsOf } from './secrets.ts';
import { createAnnounce } from './events.ts';
import { openStore, type OpenedDatabase } from './store/open.ts';
import { savePublicUrl } from './store/settings.ts';
import { createOutbox } from './webhooks/outbox.ts';
import { openQueue, type Queue } from './webhooks/queue.ts';
import type { DeliverDeps } from './webhooks/deliver.ts';
import { withJitter } from './webhooks/schedule.ts';
import { sendOptions } from './webhooks/send.ts';
import { startWorker } from './webhooks/worker.ts';

export interface Service {
  url: string;
  port: number;
  database: OpenedDatabase;
  /** Finishes what is under way, then closes everything. */
  close: () => Promise<void>;
}

export interface ServiceOptions {
  config: Config;
  log: Logger;
  contract?: CompiledContract;
  handlers?: Handlers<Deps>;
  now?: () => Date;
  /** How often the daily job runs. */
  jobMilliseconds?: number;
  /** For tests, which cannot wait for hours. */
  webhooks?: Partial<Pick<DeliverDeps, 'options' | 'schedule' | 'now'>>;
}

export async function startService(options: ServiceOptions): Promise<Service> {
  const { config, log, now = () => new Date() } = options;
  const contract = options.contract ?? (await compileContract(loadContract()));
  const sandbox = config.environment === 'sandbox';
  const services = createServices(config, await secretsOf(config));
  const database = await openStore({
    databaseUrl: config.databaseUrl,
    dataDir: config.dataDir,
    log: (message) => {
      log.warn(message);
    },
  });
  let opened: Queue | undefined;
  try {
    const onError = (error: Error) => {
      log.warn({ reason: error.message }, 'the webhook queue failed');
    };
    const queue = await openQueue(database.pool, onError);
    opened = queue;
    if (sandbox && (await furnishSandbox(database.db, config.dataDir, now(), services)))
      log.info('the sandbox was furnished');
    let publicUrl = config.publicUrl;
    const announce = createAnnounce(createOutbox(queue, contract.responses), () => publicUrl, now);
    const app = createApp({
      ...contract,
      handlers: options.handlers ?? handlers,
      database,
      services,
      announce,
      publicUrl: () => publicUrl,
      bodyLimit: config.bodyLimit,
      siteDir: join(import.meta.dirname, '..', 'site'),
      log,
      now,
    });
    const { port, close } = await listen(app, config, (facts) => {
      log.debug({ ...facts, status: 400 });
    });
    const { db } = database;
    const worker = config.webhookWorker
      ? startWorker({
          db,
          queue,
          vault: services.vault,
          log,
          now,
          options: sendOptions(config),
          schedule: withJitter,
          ...options.webhooks,
        })
      : undefined;
    if (config.port === 0) publicUrl = publicUrl.replace(/:0$/, `:${port}`);
    await savePublicUrl(db, publicUrl);
    const jobs = startJobs({
      db,
      log,
      now,
      changed: (on, row) => announce.paymentMethod(on, 'updated', row),
      everyMilliseconds: options.jobMilliseconds,
    });
    let closed: Promise<void> | undefined;
    return {
      url: publicUrl,
      port,
      database,
      close: () =>
        (closed ??= (async () => {
          try {
            await close();
            await jobs.stop();
            await worker?.stop();
            await queue.close();
          } finally {
            await database.close();
          }
        })()),
    };
  } catch (error) {
    // Its timers would keep a process alive that could not start.
    await opened?.close();
    await database.close();
    throw error;
  }
}
