/**
 * Databases for tests on one PostgreSQL server, or on a cluster of Citus: there a database is one database of the same name on
 * each server, and a copy of it is a copy on each of them.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';

interface Node {
  url: string;
  host: string;
  port: number;
}

export interface Cluster {
  isCitus: boolean;
  /** The coordinator is the first. */
  nodes: readonly Node[];
}

const distribute = join(import.meta.dirname, '..', '..', 'scripts', 'citus.sql');

/** A connection of its own, outside of any pool. */
export async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

export function urlOf(server: string, name: string): string {
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

/** Asks the database at this URL whether it is the coordinator of a cluster. */
export const findCluster = (url: string): Promise<Cluster> =>
  withClient(url, async (client) => {
    const one = { isCitus: false, nodes: [{ url, host: '', port: 0 }] };
    const { rowCount } = await client.query(`select from pg_extension where extname = 'citus'`);
    if (rowCount === 0) return one;
    const { rows } = await client.query<{ host: string; port: number }>(
      `select nodename as host, nodeport as port from pg_dist_node
       where noderole = 'primary' order by groupid`,
    );
    const nodes = rows.map(({ host, port }) => {
      const address = new URL(url);
      address.hostname = host;
      address.port = String(port);
      return { url: address.href, host, port };
    });
    return { isCitus: true, nodes };
  });

export async function createDatabase({ nodes }: Pick<Cluster, 'nodes'>, name: string, from: string) {
  for (const { url } of nodes)
    await withClient(url, async (client) => {
      // One at a time, because PostgreSQL cannot copy a template that is being copied.
      await client.query('select pg_advisory_lock(4711)');
      await client.query(`create database ${name} template ${from}`);
    });
}

/** Lets a new database know the servers of its cluster. */
export async function joinNodes({ isCitus, nodes }: Cluster, name: string): Promise<void> {
  if (!isCitus) return;
  for (const { url } of nodes)
    await withClient(urlOf(url, name), (client) => client.query('create extension citus'));
  const [coordinator, ...workers] = nodes;
  if (!coordinator) throw new Error('A cluster has a coordinator.');
  await withClient(urlOf(coordinator.url, name), async (client) => {
    await client.query('select citus_set_coordinator_host($1, $2)', [coordinator.host, coordinator.port]);
    for (const { host, port } of workers) await client.query('select citus_add_node($1, $2)', [host, port]);
  });
}

/** As an operator does it, but with few shards, because every test copies all of them. */
export async function distributeTables({ isCitus, nodes }: Cluster, name: string): Promise<void> {
  const [coordinator] = nodes;
  if (!isCitus || !coordinator) return;
  const text = await readFile(distribute, 'utf8');
  await withClient(urlOf(coordinator.url, name), async (client) => {
    await client.query('set citus.shard_count = 4');
    await client.query(text);
  });
}

/** Nobody can connect to it any more, so it can be copied. Citus has connections of its own to each database. */
export async function closeTemplate({ isCitus, nodes }: Cluster, name: string): Promise<void> {
  for (const { url } of isCitus ? nodes : [])
    await withClient(url, async (client) => {
      await client.query(`alter database ${name} allow_connections false`);
      await client.query('select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = $1', [
        name,
      ]);
    });
}

/** Drops the databases whose names match. On Citus first nobody can connect to them: each server connects anew to those of the others. */
export async function dropDatabases({ isCitus, nodes }: Cluster, pattern: string): Promise<void> {
  const each = async (statement: (name: string) => string) => {
    for (const { url } of nodes)
      await withClient(url, async (client) => {
        const { rows } = await client.query<{ datname: string }>(
          'select datname from pg_database where datname like $1',
          [pattern],
        );
        for (const { datname } of rows) await client.query(statement(datname));
      });
  };
  if (isCitus) await each((name) => `alter database ${name} allow_connections false`);
  await each((name) => `drop database ${name} with (force)`);
}
