/**
 * To make the databases that tests copy takes seconds. So the stopped cluster is kept in a cache folder, under a digest of the
 * code that made it, and each run starts on a copy.
 */
import { execFile, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { root } from '../../scripts/support/root.ts';
import { startEmbedded, type EmbeddedDatabase } from '../../server/kit/database/embedded/index.ts';
import { findCluster } from './cluster.ts';
import type { Templates } from './templates.ts';

/** The files that the first start of the furnished template created in its DATA_DIR, by name. */
export type SandboxFiles = Record<'secrets.json' | 'sandbox-key.pem', string>;

const run = promisify(execFile);
const cache = join(root, 'node_modules', '.cache', 'payments-tests');

/**
 * Its data is not needed after the run, so nothing waits for the disk. Crash safety is tested with databases that the service
 * starts itself. With hundreds of databases, autovacuum would always be busy with one of them; tests of plans run ANALYZE. Files
 * of the WAL are neither filled with zeros nor kept, so that there is less to copy.
 */
export const startCluster = (folder: string): Promise<EmbeddedDatabase> =>
  startEmbedded({
    dataDir: join(folder, 'data'),
    settings: [
      ...['fsync', 'synchronous_commit', 'full_page_writes', 'autovacuum', 'wal_init_zero', 'wal_recycle'],
    ].map((name) => `${name}=off`),
  });

/**
 * Stops the cluster, if it runs, and removes the folder of a run. At once, without a checkpoint: nothing in it is needed any more.
 * Synchronous, because the process exits. Another Ctrl+C does not interrupt it.
 */
export function removeRun(folder: string): void {
  const script = `trap '' INT
file=$1/data/postgres/data/postmaster.pid
if kill -QUIT "$(head -n 1 "$file")"; then
  for i in $(seq 500); do [ ! -e "$file" ] || sleep 0.02; done
fi
rm -rf "$1"`;
  spawnSync('sh', ['-c', script, 'sh', folder]);
}

/** Fills the folder of a run: `data` with a stopped cluster, `sandbox` with the files of the first start. */
export async function fillFolder(folder: string, templates: Templates): Promise<void> {
  const digest = await digestOfMakers();
  const kept = join(cache, digest);
  if (existsSync(kept)) {
    await copyFolder(kept, folder);
    return;
  }
  const embedded = await startCluster(folder);
  try {
    const { makeTemplates } = await import('./templates.ts');
    await makeTemplates(await findCluster(embedded.url), templates, join(folder, 'sandbox'));
  } finally {
    await embedded.stop();
  }
  await trustSocket(embedded.directory);
  await mkdir(cache, { recursive: true });
  // What earlier code made is not needed any more. A draft may be that of another run.
  const others = (await readdir(cache)).filter((name) => name !== digest && !name.startsWith('draft-'));
  for (const name of others) await removeFolder(join(cache, name));
  const draft = await mkdtemp(join(cache, 'draft-'));
  await copyFolder(folder, draft);
  // Another run may have been faster.
  await rename(draft, kept).catch(() => removeFolder(draft));
}

/**
 * SCRAM costs both sides milliseconds for each of a test's many connections, and only the owner can open the socket. The connection
 * that the service itself keeps, to the database `postgres`, still demands that the server proves itself.
 */
async function trustSocket(directory: string): Promise<void> {
  const file = join(directory, 'data', 'pg_hba.conf');
  const rules = await readFile(file, 'utf8');
  const own = '\nlocal postgres all scram-sha-256\nlocal all all trust';
  await writeFile(file, rules.replace(/\nlocal +all +all +scram-sha-256/, own));
}

/** Of all modules that decide what is in the templates, and of the day, because the samples end with today. */
async function digestOfMakers(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, 'templates.ts')],
    ...{ bundle: true, write: false, minify: true, packages: 'external', platform: 'node', format: 'esm' },
  });
  const today = new Date().toISOString().slice(0, 10);
  return createHash('sha256')
    .update(today)
    .update(outputFiles[0]?.contents ?? '')
    .digest('hex')
    .slice(0, 16);
}

export async function readSandboxFiles(folder: string): Promise<SandboxFiles> {
  const text = (name: keyof SandboxFiles) => readFile(join(folder, name), 'utf8');
  return {
    'secrets.json': await text('secrets.json'),
    'sandbox-key.pem': await text('sandbox-key.pem'),
  };
}

/**
 * What a start needs. By `cp`, because Node's takes three times as long and does not keep the owner, whom PostgreSQL checks.
 */
async function copyFolder(from: string, to: string): Promise<void> {
  await mkdir(join(to, 'data', 'postgres'), { recursive: true, mode: 0o711 });
  await run('cp', ['-a', join(from, 'sandbox'), to]);
  await run('cp', ['-a', join(from, 'data', 'postgres-password'), join(to, 'data')]);
  await run('cp', ['-a', join(from, 'data', 'postgres', 'data'), join(to, 'data', 'postgres')]);
}

/** By `rm`, because Node's takes seconds for thousands of files. */
export const removeFolder = (folder: string): Promise<unknown> => run('rm', ['-rf', folder]);
