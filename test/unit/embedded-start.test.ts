// The embedded PostgreSQL with one process. With several processes: embedded-processes.test.ts.
import { mkdtemp, chmod, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runningUrl, startEmbedded, type EmbeddedDatabase } from '../../server/postgres/index.ts';
import { startTimeOf } from '../../server/postgres/process.ts';

const linux = process.platform === 'linux';

async function query(url: string, statement: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const result = await client.query<Record<string, unknown>>(statement);
    return result.rows;
  } finally {
    await client.end();
  }
}

/** The arguments of every process of this machine. */
async function everyCommand(): Promise<string> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const read = (pid: string) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return (await Promise.all(pids.map(read))).join('\n');
}

describe('an embedded PostgreSQL', () => {
  let base: string;
  let dataDir: string;
  let database: EmbeddedDatabase;
  let commands = '';
  const note = (seen: string): boolean => {
    commands += seen;
    return false;
  };

  beforeAll(async () => {
    base = await mkdtemp(join(tmpdir(), 'embedded-start-'));
    await chmod(base, 0o755);
    dataDir = join(base, 'data');
    const starts = startEmbedded({ dataDir });
    const ready = starts.then(() => true);
    while (linux && !(await Promise.race([ready, everyCommand().then(note)])));
    database = await starts;
  });

  afterAll(async () => {
    await database.stop();
    await rm(database.directory, { recursive: true });
    await rm(base, { recursive: true });
  });

  const restart = async (): Promise<void> => {
    database = await startEmbedded({ dataDir });
  };
  const password = async (): Promise<string> =>
    (await readFile(join(dataDir, 'postgres-password'), 'utf8')).trim();
  const postmasterFile = (): string => join(database.directory, 'data', 'postmaster.pid');

  it('starts in an empty folder, with a database named payments', async () => {
    expect(database.started).toBe(true);
    expect(new URL(database.url).pathname).toBe('/payments');
    expect(await runningUrl(dataDir)).toBe(database.url);
  });

  it('listens on the loopback address only, never on port 5432', async () => {
    const rows = await query(
      database.url,
      "SELECT current_setting('listen_addresses') AS host, current_setting('unix_socket_directories') AS socket",
    );
    expect(rows).toEqual([{ host: '127.0.0.1', socket: '' }]);
    expect(new URL(database.url).hostname).toBe('127.0.0.1');
    expect(['', '5432']).not.toContain(new URL(database.url).port);
  });

  it('has fsync, UTF-8, UTC and many connections', async () => {
    const names = ['fsync', 'server_encoding', 'TimeZone', 'max_connections', 'data_checksums'];
    const rows = await query(
      database.url,
      `SELECT ${names.map((name) => `current_setting('${name}') AS "${name}"`).join(', ')}`,
    );
    expect(rows[0]).toEqual({
      fsync: 'on',
      server_encoding: 'UTF8',
      TimeZone: 'UTC',
      max_connections: '200',
      data_checksums: 'on',
    });
    expect(
      await query(database.url, "SELECT datlocprovider AS p FROM pg_database WHERE datname = 'payments'"),
    ).toEqual([{ p: 'b' }]);
  });

  it('keeps its password in a file of mode 0600 and asks for it by scram', async () => {
    expect((await stat(join(dataDir, 'postgres-password'))).mode & 0o777).toBe(0o600);
    expect((await stat(database.directory)).mode & 0o777).toBe(0o700);
    expect((await password()).length).toBeGreaterThanOrEqual(32);
    const rules = await query(database.url, 'SELECT DISTINCT auth_method AS m FROM pg_hba_file_rules');
    expect(rules).toEqual([{ m: 'scram-sha-256' }]);
    const wrong = new URL(database.url);
    wrong.password = 'wrong';
    await expect(query(wrong.href, 'SELECT 1')).rejects.toMatchObject({ code: '28P01' });
  });

  it('shows its password in no log and no argument list', async () => {
    const log = await readFile(join(database.directory, 'postgres.log'), 'utf8');
    expect(log).toContain('ready to accept connections');
    expect(log).not.toContain(await password());
    if (!linux) return;
    expect(commands).toContain('initdb');
    expect(commands + (await everyCommand())).not.toContain(await password());
  });

  it('writes no values from statements to its log', async () => {
    const row = "INSERT INTO secret VALUES ('4111111111111111')";
    await query(database.url, 'CREATE TABLE secret (n text PRIMARY KEY CHECK (length(n) < 20))');
    await query(database.url, row);
    await expect(query(database.url, row)).rejects.toMatchObject({ code: '23505' });
    await expect(query(database.url, `${row}, ('4111111111111111111111')`)).rejects.toThrow();
    await expect(query(database.url, "SELECT '4111111111111111x'::int")).rejects.toThrow();
    expect(await readFile(join(database.directory, 'postgres.log'), 'utf8')).not.toContain('4111');
  });

  it('starts again on the same address with its data, quickly', async () => {
    await query(database.url, 'CREATE TABLE kept AS SELECT 42 AS n');
    const before = database.url;
    const pid = Number.parseInt(await readFile(postmasterFile(), 'utf8'), 10);
    await database.stop();
    expect(await startTimeOf(pid)).toBeUndefined();
    expect(await runningUrl(dataDir)).toBeUndefined();
    const begun = performance.now();
    await restart();
    // Ten times what an idle machine needs; only creating a new cluster would take longer.
    expect(performance.now() - begun).toBeLessThan(2_000);
    expect(database).toMatchObject({ started: true, url: before });
    expect(await query(database.url, 'SELECT n FROM kept')).toEqual([{ n: 42 }]);
  });

  it('may be stopped twice', async () => {
    await database.stop();
    await database.stop();
    await restart();
    expect(database.started).toBe(true);
  });

  it('takes another port when another program uses its own', async () => {
    const before = new URL(database.url).port;
    await database.stop();
    const stranger = createServer().listen(Number(before), '127.0.0.1');
    await once(stranger, 'listening');
    try {
      await restart();
      expect(new URL(database.url).port).not.toBe(before);
      expect(await query(database.url, 'SELECT n FROM kept')).toEqual([{ n: 42 }]);
    } finally {
      stranger.close();
    }
  });

  it.each([
    ['a process that is gone', () => 2 ** 22 + 1],
    ['a process that is something else', () => process.ppid],
  ])('starts in spite of a postmaster.pid that names %s', async (_, pid) => {
    await database.stop();
    const lines = [
      pid(),
      join(database.directory, 'data'),
      1,
      new URL(database.url).port,
      '',
      '127.0.0.1',
      '1 1',
      'ready',
    ];
    await writeFile(postmasterFile(), `${lines.join('\n')}\n`);
    expect(await runningUrl(dataDir)).toBeUndefined();
    await restart();
    expect(database.started).toBe(true);
    expect(await query(database.url, 'SELECT n FROM kept')).toEqual([{ n: 42 }]);
  });

  it('says what is wrong when its password is missing or wrong', async () => {
    const file = join(dataDir, 'postgres-password');
    const right = await readFile(file, 'utf8');
    try {
      await writeFile(file, 'another\n');
      await expect(startEmbedded({ dataDir })).rejects.toThrow(/refuses the password in DATA_DIR/);
      await rm(file);
      await expect(startEmbedded({ dataDir })).rejects.toThrow(/postgres-password is missing/);
    } finally {
      await writeFile(file, right, { mode: 0o600 });
    }
    expect(await runningUrl(dataDir)).toBe(database.url);
  });

  it('gives PostgreSQL’s own reason when it does not start', async () => {
    await database.stop();
    const version = join(database.directory, 'data', 'PG_VERSION');
    const right = await readFile(version, 'utf8');
    await writeFile(version, '9.6\n');
    try {
      await expect(startEmbedded({ dataDir })).rejects.toThrow(
        /did not start: database files are incompatible/,
      );
    } finally {
      await writeFile(version, right);
    }
    await restart();
    expect(database.started).toBe(true);
  });
});
