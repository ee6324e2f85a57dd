/** Creates a database for one test, from a template in about 40 ms. */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';

/** Has not even tables, unless it is a copy of another database. */
export async function createEmptyDatabase(from = 'template1'): Promise<string> {
  const url = new URL(inject('serverUrl'));
  const name = `${inject('template').replace('template', 'empty')}_${randomBytes(5).toString('hex')}`;
  const admin = new pg.Client({ connectionString: url.href });
  await admin.connect();
  await admin.query(`create database ${name} template ${from}`).finally(() => admin.end());
  url.pathname = `/${name}`;
  return url.href;
}

/** Migrated and empty; if `furnished`, with the sample data of a sandbox. */
export async function createTestDatabase(from: 'template' | 'furnished' = 'template'): Promise<string> {
  const serverUrl = inject('serverUrl');
  const template = inject(from);
  const name = `${template.replace(from, 'db')}_${randomBytes(5).toString('hex')}`;
  const admin = new pg.Client({ connectionString: serverUrl });
  await admin.connect();
  try {
    // One at a time, because PostgreSQL cannot copy a template that is being copied.
    await admin.query('select pg_advisory_lock(4711)');
    await admin.query(`create database ${name} template ${template}`);
  } finally {
    await admin.end();
  }
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}

/** With a connection of its own, outside of any pool. */
export async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** The names of migrations that were applied. */
export const appliedTo = (url: string) =>
  withClient(url, async (client) => {
    const { rows } = await client.query<{ name: string }>('select name from kysely_migration order by name');
    return rows.map(({ name }) => name);
  });
