/** Runs before all tests: starts one PostgreSQL, creates two template databases, and compiles the project if a test needs that. */
import { chmod, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import type { TestProject } from 'vitest/node';
import { staleParts } from '../../scripts/generate/digest.ts';
import { root } from '../../scripts/support/root.ts';
import { preparePartitions } from '../../server/actions/housekeeping.ts';
import type { Config } from '../../server/config.ts';
import { startEmbedded } from '../../server/postgres/index.ts';
import { fillSandbox } from '../../server/sandbox/first-start.ts';
import { openSecrets } from '../../server/secrets.ts';
import { openDatabase, type Database } from '../../server/store/database.ts';
import { migrate } from '../../server/store/migrate.ts';
import { openQueue } from '../../server/webhooks/queue.ts';
import { listAccountTables } from './account-statements.ts';
import {
  closeTemplate,
  createDatabase,
  distributeTables,
  dropDatabases,
  findCluster,
  joinNodes,
  urlOf,
  withClient,
  type Cluster,
} from './cluster.ts';
import { usesInjected } from './uses.ts';

/** The files that the first start of the furnished template created in its DATA_DIR, by name. */
type SandboxFiles = Record<'secrets.json' | 'sandbox-key.pem', string>;

declare module 'vitest' {
  export interface ProvidedContext {
    /** A server on which tests may create databases. */
    serverUrl: string;
    /** That server, or the cluster of Citus whose coordinator it is. */
    cluster: Cluster;
    /** A migrated database with nothing in it. */
    template: string;
    /** The same after the first start of a sandbox. */
    furnished: string;
    sandboxFiles: SandboxFiles;
    /** The tables that belong to merchant accounts. */
    accountTables: string[];
    /** The folder with the compiled project; empty if no file that was chosen asks for it. */
    compiled: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  for (const part of await staleParts(root)) console.warn(`${part}: npm run generate`);
  const given = process.env.TEST_DATABASE_URL;
  const folder = await mkdtemp(join(tmpdir(), 'payments-test-'));
  // As root, PostgreSQL runs as another user, who must be able to enter this folder.
  await chmod(folder, 0o755);
  // A run inside of a run, for new operations in a copy of the project, starts none of the compiled programs.
  const outer = process.env.TEST_COMPILED;
  const compiling = outer ?? compileIfUsed(project);
  const embedded = given === undefined ? await startEmbedded({ dataDir: join(folder, 'data') }) : undefined;
  const serverUrl = given ?? embedded?.url ?? '';
  const template = `test_template_${process.pid}`;
  const furnished = `test_furnished_${process.pid}`;
  if (embedded) await withClient(serverUrl, hurry);
  const cluster = await findCluster(serverUrl);

  await createDatabase(cluster, template, 'template1');
  await joinNodes(cluster, template);
  let accountTables: string[] = [];
  await withDatabase(serverUrl, template, async ({ db, pool }) => {
    await migrate(db);
    accountTables = await listAccountTables(pool);
    // With the tables of the queue, so that services start faster.
    const queue = await openQueue(pool, () => undefined);
    await queue.close();
  });
  await distributeTables(cluster, template);
  await closeTemplate(cluster, template);
  await createDatabase(cluster, furnished, template);
  const dataDir = join(folder, 'sandbox');
  await mkdir(dataDir);
  await withDatabase(serverUrl, furnished, async ({ db }) => {
    const config = { environment: 'sandbox', dataDir, secrets: {} } as Config;
    await fillSandbox(db, dataDir, new Date(), await openSecrets(config));
    // What a service does when it starts, so that services start faster.
    await preparePartitions(db, new Date(), 30);
  });
  await closeTemplate(cluster, furnished);
  const text = (name: keyof SandboxFiles) => readFile(join(dataDir, name), 'utf8');

  const compiled = await compiling;
  project.provide('serverUrl', serverUrl);
  project.provide('cluster', cluster);
  project.provide('template', template);
  project.provide('furnished', furnished);
  project.provide('sandboxFiles', {
    'secrets.json': await text('secrets.json'),
    'sandbox-key.pem': await text('sandbox-key.pem'),
  });
  project.provide('accountTables', accountTables);
  project.provide('compiled', compiled);
  return async () => {
    if (!embedded) await dropDatabases(cluster, `test\\_%\\_${process.pid}%`);
    await embedded?.stop();
    await rm(folder, { recursive: true, force: true });
    if (outer === undefined && compiled !== '') await rm(compiled, { recursive: true, force: true });
  };
}

/** Most files start no process, and need not wait for this. In watch mode the next file might. */
async function compileIfUsed({ vitest }: TestProject): Promise<string> {
  const isUsed = vitest.config.watch || (await usesInjected('compiled', vitest.state.getPaths()));
  return isUsed ? (await import('./compile.ts')).compileProject() : '';
}

// The data is not needed after the run, so fsync is off. Crash safety is tested with databases that the service starts itself.
async function hurry(admin: pg.Client): Promise<void> {
  // With hundreds of databases, autovacuum would always be busy with one of them. Tests of plans run ANALYZE themselves.
  for (const setting of ['fsync', 'synchronous_commit', 'full_page_writes', 'autovacuum'])
    await admin.query(`alter system set ${setting} = off`);
  await admin.query('select pg_reload_conf()');
}

async function withDatabase(
  serverUrl: string,
  name: string,
  work: (database: Database) => Promise<void>,
): Promise<void> {
  const database = openDatabase(urlOf(serverUrl, name), (error) => {
    throw error;
  });
  try {
    await work(database);
  } finally {
    await database.close();
  }
}
