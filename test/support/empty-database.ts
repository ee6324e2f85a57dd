/** Databases without tables, and connections to them. */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';

/** Not a copy of the template: it has no tables. */
export async function createEmptyDatabase(): Promise<string> {
  const url = new URL(inject('serverUrl'));
  const name = `${inject('template').replace('template', 'empty')}_${randomBytes(5).toString('hex')}`;
  await withClient(url.href, (client) => client.query(`create database ${name}`));
  url.pathname = `/${name}`;
  return url.href;
}

export async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
