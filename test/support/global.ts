/** Before all tests: one PostgreSQL for the whole run, two databases to make the others from, and the project compiled. */
import { chmod, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { startEmbedded } from '../../server/postgres/index.ts';
import { furnishSandbox } from '../../server/sandbox/first-start.ts';
import { secretsOf } from '../../server/secrets.ts';
import { createServices } from '../../server/services.ts';
import { migrate, openDatabase, type Database } from '../../server/store/database.ts';
import { openQueue } from '../../server/webhooks/queue.ts';
import { compileProject } from './compile.ts';

/** What the first start of the furnished template left in its DATA_DIR, by the name of the file. */
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
    /** The folder in which the project lies as JavaScript. */
    compiled: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env.TEST_DATABASE_URL;
  const folder = await mkdtemp(join(tmpdir(), 'payments-test-'));
  // As root PostgreSQL runs as another user, who must be able to get here; otherwise it would settle elsewhere.
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
    // The queue's own tables too, so that services start quicker.
    const queue = await openQueue(pool, () => undefined);
    await queue.close();
  });
  await admin.query(`create database ${furnished} template ${template}`);
  const dataDir = join(folder, 'sandbox');
  await mkdir(dataDir);
  await withDatabase(serverUrl, furnished, async ({ db }) => {
    const environment = 'sandbox';
    const secrets = await secretsOf({ environment, dataDir, secrets: {} } as never);
    await furnishSandbox(db, dataDir, new Date(), createServices({ environment }, secrets));
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

// Nothing in this PostgreSQL outlives the run, so nothing waits for the disk. What survives a crash is tested elsewhere, on
// databases that the service starts itself.
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
