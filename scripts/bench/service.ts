// The service as `npm start` runs it, on data of its own.
import { createPublicKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ask, createSandbox } from '../support/sandbox.ts';

export type Service = Awaited<ReturnType<typeof createService>>;

/** Returns it stopped, with so many transactions, and a webhook subscription if it has a URL. */
export async function createService(transactions: number, webhookUrl?: string) {
  // With its log, as everywhere.
  const sandbox = await createSandbox({ LOG_LEVEL: 'info' });
  const print = (...args: string[]) => sandbox.payments(...args).stdout.trim();
  await sandbox.start();
  if (transactions > 0) print('seed', '--transactions', String(transactions));
  const service = {
    ...sandbox,
    token: print('token', '--scopes', '*.read,*.write', '--ttl', '86400'),
    /** Verifies the token; PEM. */
    publicKey: createPublicKey(readFileSync(join(sandbox.dataDir, 'sandbox-key.pem')))
      .export({ type: 'spki', format: 'pem' })
      .toString(),
    /** Of the service that runs now. */
    databaseUrl: () => print('database', 'url'),
  };
  if (webhookUrl !== undefined) await ask(service, '/webhook-subscriptions', { url: webhookUrl });
  await sandbox.stop();
  return service;
}
