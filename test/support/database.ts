/** Creates a database for one test, from a template in about 40 ms, and opens it. */
import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import { openDatabase, type Database, type DatabaseOptions } from '../../server/kit/database/database.ts';
import { createDatabase, urlOf, withClient } from './cluster.ts';

export { withClient } from './cluster.ts';

/** Has not even tables, unless it is a copy of another database. */
export const createEmptyDatabase = (from = 'template1'): Promise<string> => copyOf(from, 'empty');

/** Migrated and empty; if `furnished`, with the sample data of a sandbox. */
export const createTestDatabase = (from: 'template' | 'furnished' = 'template'): Promise<string> =>
  copyOf(inject(from), 'db');

async function copyOf(template: string, kind: string): Promise<string> {
  const name = `${inject('template').replace('template', kind)}_${randomBytes(5).toString('hex')}`;
  await createDatabase(inject('cluster'), name, template);
  return urlOf(inject('serverUrl'), name);
}

/** As the cluster is: on Citus the service sends other statements. It waits longer than a request, because other tests are busy. */
export const openTestDatabase = (url: string, options: DatabaseOptions = {}): Database =>
  openDatabase(
    url,
    (error) => {
      throw error;
    },
    { isCitus: inject('cluster').isCitus, waitMilliseconds: 60_000, ...options },
  );

/** The rows of one statement. */
export const query = (url: string, text: string) =>
  withClient(url, async (client) => (await client.query<Record<string, unknown>>(text)).rows);

/** The names of migrations that were applied. */
export const appliedTo = (url: string) =>
  withClient(url, async (client) => {
    const { rows } = await client.query<{ name: string }>(
      'select name from applied_migrations order by name',
    );
    return rows.map(({ name }) => name);
  });
