/** Runs before all tests: starts one PostgreSQL, creates two template databases, and compiles the project. */
import { chmod, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { preparePartitions } from '../../server/actions/housekeeping.ts';
import type { Config } from '../../server/config.ts';
import { startEmbedded } from '../../server/postgres/index.ts';
import { fillSandbox } from '../../server/sandbox/first-start.ts';
import { openSecrets } from '../../server/secrets.ts';
import { openDatabase, type Database } from '../../server/store/database.ts';
import { migrate } from '../../server/store/migrate.ts';
import { openQueue } from '../../server/webhooks/queue.ts';
import { compileProject } from './compile.ts';

/** The files that the first start of the furnished template created in its DATA_DIR, by name. */
type SandboxFiles = Record<'secrets.json' | 'sandbox-key.pem', string>;

declare module 'vitest' {
  export interface ProvidedContext {
    /** A server on which tests may create databases. */
    serverUrl: string;
    /** A migrated database with nothing in it. */
    template: string;
    /** The same after the first start of a sandbox. */
    furnished: string;
    sandboxFiles: SandboxFiles;
    /** The folder with the compiled project. */
    compiled: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env.TEST_DATABASE_URL;
  const folder = await mkdtemp(join(tmpdir(), 'payments-test-'));
  // As root, PostgreSQL runs as another user, who must be able to enter this folder.
  await chmod(folder, 0o755);
  const compiling = compileProject();
  const embedded = given === undefined ? await startEmbedded({ dataDir: join(folder, 'data') }) : undefined;
  const serverUrl = given ?? embedded?.url ?? '';
  const template = `test_template_${process.pid}`;
  const furnished = `test_furnished_${process.pid}`;
  const admin = new pg.Client({ connectionString: serverUrl });
  await admin.connect();
  if (embedded) await hurry(admin);

  await admin.query(`create database ${template}`);
  await withDatabase(serverUrl, template, async ({ db, pool }) => {
    await migrate(db);
    // With the tables of the queue, so that services start faster.
    const queue = await openQueue(pool, () => undefined);
    await queue.close();
  });
  await admin.query(`create database ${furnished} template ${template}`);
  const dataDir = join(folder, 'sandbox');
  await mkdir(dataDir);
  await withDatabase(serverUrl, furnished, async ({ db }) => {
    const config = { environment: 'sandbox', dataDir, secrets: {} } as Config;
    await fillSandbox(db, dataDir, new Date(), await openSecrets(config));
    // What a service does when it starts, so that services start faster.
    await preparePartitions(db, new Date(), 30);
  });
  const text = (name: keyof SandboxFiles) => readFile(join(dataDir, name), 'utf8');

  const compiled = await compiling;
  project.provide('serverUrl', serverUrl);
  project.provide('template', template);
  project.provide('furnished', furnished);
  project.provide('sandboxFiles', {
    'secrets.json': await text('secrets.json'),
    'sandbox-key.pem': await text('sandbox-key.pem'),
  });
  project.provide('compiled', compiled);
  return async () => {
    const { rows } = await admin.query<{ datname: string }>(
      'select datname from pg_database where datname like $1',
      [`test\\_%\\_${process.pid}%`],
    );
    for (const { datname } of embedded ? [] : rows)
      await admin.query(`drop database ${datname} with (force)`);
    await admin.end();
    await embedded?.stop();
    await rm(folder, { recursive: true, force: true });
    await rm(compiled, { recursive: true, force: true });
  };
}

// The data is not needed after the run, so fsync is off. Crash safety is tested with databases that the service starts itself.
async function hurry(admin: pg.Client): Promise<void> {
  for (const setting of ['fsync', 'synchronous_commit', 'full_page_writes'])
    await admin.query(`alter system set ${setting} = off`);
  await admin.query('select pg_reload_conf()');
}

async function withDatabase(
  serverUrl: string,
  name: string,
  work: (database: Database) => Promise<void>,
): Promise<void> {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  const database = openDatabase(url.href, (error) => {
    throw error;
  });
  try {
    await work(database);
  } finally {
    await database.close();
  }
}
