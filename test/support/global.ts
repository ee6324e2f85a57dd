/** Before all tests: one PostgreSQL for the whole run, and a migrated database to make the others from. */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { migrate, openDatabase } from '../../server/store/database.ts';
import { openQueue } from '../../server/webhooks/queue.ts';
import { startEmbedded } from '../../server/postgres/index.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** A server on which tests may create databases. */
    serverUrl: string;
    template: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env.TEST_DATABASE_URL;
  const folder = await mkdtemp(join(tmpdir(), 'payments-test-'));
  // As root PostgreSQL runs as another user, who must be able to get here; otherwise it would settle elsewhere.
  await chmod(folder, 0o755);
  const embedded = given === undefined ? await startEmbedded({ dataDir: join(folder, 'data') }) : undefined;
  const serverUrl = given ?? embedded?.url ?? '';
  const template = `test_template_${process.pid}`;
  const admin = new pg.Client({ connectionString: serverUrl });
  await admin.connect();
  await admin.query(`create database ${template}`);
  const url = new URL(serverUrl);
  url.pathname = `/${template}`;
  const database = openDatabase(url.href, (error) => {
    throw error;
  });
  await migrate(database.db);
  // The queue's own tables too, so that services start quicker.
  const queue = await openQueue(database.pool, () => undefined);
  await queue.close();
  await database.close();
  project.provide('serverUrl', serverUrl);
  project.provide('template', template);
  return async () => {
    const { rows } = await admin.query<{ datname: string }>(
      'select datname from pg_database where datname like $1',
      [`test\\_%\\_${process.pid}%`],
    );
    for (const { datname } of rows) await admin.query(`drop database ${datname} with (force)`);
    await admin.end();
    await embedded?.stop();
    await rm(folder, { recursive: true, force: true });
  };
}
