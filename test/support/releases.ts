/** The data of released versions, as test/fixtures/releases/make.ts wrote it, in a new database. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type pg from 'pg';
import type { SecretName } from '../../server/settings.ts';
import { createEmptyDatabase, withClient } from './database.ts';

export interface Release {
  version: string;
  made_at: string;
  secrets: Record<SecretName, string>;
  /** Of the administrator. */
  private_key: string;
  /** A POST with an Idempotency-Key, and the answer. */
  request: { path: string; key: string; body: object; status: number; answer: string };
  /** The second page of a list. */
  list: { path: string; ids: string[] };
  /** The card of that POST. */
  card: { number: string; fingerprint: string };
  /** Has one delivery that nobody has tried yet. */
  subscription: { id: string; secret: string; username: string; password: string };
  /** By table. */
  rows: Record<string, number>;
}

const folder = join(import.meta.dirname, '..', 'fixtures', 'releases');

const readText = (version: string, file: string): string => readFileSync(join(folder, version, file), 'utf8');

export const releases: Release[] = readdirSync(folder, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => JSON.parse(readText(name, 'facts.json')) as Release);

/** As if it had been made a moment ago. Returns the URL of the database. */
export async function loadRelease({ version, made_at }: Release): Promise<string> {
  const url = await createEmptyDatabase();
  await withClient(url, async (client) => {
    await client.query(readText(version, 'schema.sql'));
    await client.query(readText(version, 'data.sql'));
    // Before the triggers, which protect the audit trail.
    await moveTimes(client, made_at);
    await client.query(readText(version, 'constraints.sql'));
  });
  return url;
}

/**
 * Retention, limits and expiry compare these times with now: an answer is kept for a day. Transactions keep theirs, because filters
 * and cursors name them.
 */
async function moveTimes(client: pg.Client, madeAt: string): Promise<void> {
  const { rows } = await client.query<{ table: string; set: string }>(`
    select table_name as table, string_agg(format('%1$I = %1$I + $1::interval', column_name), ', ') as set
    from information_schema.columns
    where table_schema = 'public' and data_type = 'timestamp with time zone'
      and table_name not in ('transactions', 'applied_migrations')
    group by table_name`);
  const milliseconds = Date.now() - Date.parse(madeAt);
  for (const { table, set } of rows)
    await client.query(`update ${table} set ${set}`, [`${milliseconds} milliseconds`]);
  await client.query('update rate_limits set expire = expire + $1', [milliseconds]);
  // 1.0.0 does not have it.
  if (rows.some(({ table }) => table === 'number_buckets'))
    await client.query(
      `update number_buckets set seen =
         (select jsonb_object_agg(key, value::bigint + $1::bigint) from jsonb_each_text(seen))`,
      [milliseconds],
    );
}
