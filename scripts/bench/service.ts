// The service as `npm start` runs it, from this project or from the checkout of another commit, on data of its own.
import { spawnSync } from 'node:child_process';
import { createPublicKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSandbox, scriptOf, type Sandbox } from '../support/sandbox.ts';

export interface Service extends Sandbox {
  token: string;
  /** Verifies the token; PEM. */
  publicKey: string;
  /** Of the service that runs now. */
  databaseUrl: () => string;
}

/** Returns it stopped, with so many transactions. */
export async function createService(project: string, transactions: number): Promise<Service> {
  const { status } = spawnSync('sh', scriptOf(project, 'prestart'), {
    cwd: project,
    stdio: ['ignore', 2, 2],
  });
  if (status !== 0) throw new Error(`${project} cannot be started: run npm ci there.`);
  // With its log, as everywhere.
  const sandbox = await createSandbox({ project, env: { LOG_LEVEL: 'info' } });
  const print = (...args: string[]) => sandbox.payments(...args).stdout.trim();
  await sandbox.start();
  if (transactions > 0) print('seed', '--transactions', String(transactions));
  const service = {
    ...sandbox,
    token: print('token', '--scopes', '*.read,*.write', '--ttl', '86400'),
    publicKey: createPublicKey(readFileSync(join(sandbox.dataDir, 'sandbox-key.pem')))
      .export({ type: 'spki', format: 'pem' })
      .toString(),
    databaseUrl: () => print('database', 'url'),
  };
  await sandbox.stop();
  return service;
}

export async function post({ url, token }: Service, path: string, body: object): Promise<{ id: string }> {
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (response.status !== 201) throw new Error(`${path} answered ${response.status}`);
  return (await response.json()) as { id: string };
}
