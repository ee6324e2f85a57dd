// The embedded PostgreSQL with one process. With several processes: embedded-processes.test.ts.
import { spawn } from 'node:child_process';
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { readConfig } from '../../server/config.ts';
import { openReadyDatabase } from '../../server/database.ts';
import { isRoot, nobody } from '../../server/kit/database/embedded/data-dir.ts';
import {
  runningUrl,
  startEmbedded,
  type EmbeddedDatabase,
} from '../../server/kit/database/embedded/index.ts';
import { socketAddress } from '../../server/kit/database/embedded/server.ts';
import { newDataDir, type DataDir } from '../support/data-dir.ts';
import { query } from '../support/database.ts';

const linux = process.platform === 'linux';

describe('an embedded PostgreSQL', () => {
  let folder: DataDir;
  let dataDir: string;
  let database: EmbeddedDatabase;
  let commands = '';

  beforeAll(async () => {
    folder = await newDataDir();
    dataDir = folder.path;
    let isStarting = linux;
    const starting = restart().finally(() => (isStarting = false));
    const commandOf = (pid: string) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    while (isStarting) {
      const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
      commands += (await Promise.all(pids.map(commandOf))).join('');
    }
    await starting;
  });

  afterAll(async () => {
    await database.stop();
    await folder[Symbol.asyncDispose]();
  });

  const startAndStop = async (path: string): Promise<EmbeddedDatabase> => {
    const started = await startEmbedded({ dataDir: path });
    await started.stop();
    return started;
  };
  const restart = async (): Promise<void> => {
    database = await startEmbedded({ dataDir });
  };
  const password = async (): Promise<string> =>
    (await readFile(join(dataDir, 'postgres-password'), 'utf8')).trim();
  const postmasterFile = (): string => join(database.directory, 'data', 'postmaster.pid');

  it('has a folder that Git ignores', async () => {
    expect(await readFile(join(dataDir, '.gitignore'), 'utf8')).toBe('*\n');
  });

  it('starts once for a fault that another start would find again', async () => {
    await using other = await newDataDir();
    const options = {
      environment: 'sandbox',
      databaseUrl: undefined,
      dataDir: other.path,
      log: () => undefined,
    } as const;
    const opened = await openReadyDatabase(options);
    await query(opened.url, `insert into applied_migrations (name, digest) values ('0001-another', '')`);
    await opened.close();
    const { directory } = await startAndStop(other.path);
    const logged = await readFile(join(directory, 'postgres.log'), 'utf8');
    await expect(openReadyDatabase(options)).rejects.toThrow('0001-another');
    expect(await readFile(join(directory, 'postgres.log.previous'), 'utf8')).toBe(logged);
  });

  it('is reached by a socket that only its owner can open, and by no network; it syncs, and has UTF-8 and UTC', async () => {
    const expected = {
      listen_addresses: '',
      unix_socket_directories: database.directory,
      unix_socket_permissions: '0700',
      fsync: 'on',
      data_checksums: 'on',
      server_encoding: 'UTF8',
      TimeZone: 'UTC',
      max_connections: '200',
    };
    const settings = Object.keys(expected).map((name) => `current_setting('${name}') AS "${name}"`);
    const text = `SELECT ${settings.join(', ')}, datlocprovider FROM pg_database WHERE datname = current_database()`;
    expect(await query(database.url, text)).toEqual([{ ...expected, datlocprovider: 'b' }]);
    expect(database.url).toMatch(/^postgres:\/\/payments:[\w-]+@localhost\/payments\?host=\//);
    expect(new URL(database.url).searchParams.get('host')).toBe(database.directory);
    expect((await stat(database.directory)).mode & 0o777).toBe(0o700);
    expect((await stat(join(database.directory, '.s.PGSQL.5432'))).mode & 0o777).toBe(0o700);
  });

  it('has an address that DATABASE_URL and pg take, whatever PGPORT and PGHOST say', async () => {
    const { databaseUrl } = readConfig({ DATABASE_URL: database.url });
    expect(databaseUrl).toBe(database.url);
    vi.stubEnv('PGPORT', '1').stubEnv('PGHOST', '192.0.2.1');
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(await query(database.url, 'SELECT 1 AS n')).toEqual([{ n: 1 }]);
  });

  it('keeps its password in a file of mode 0600 and in no argument list, and asks for it by scram', async () => {
    expect((await stat(join(dataDir, 'postgres-password'))).mode & 0o777).toBe(0o600);
    expect((await password()).length).toBeGreaterThanOrEqual(32);
    expect(commands.includes('initdb')).toBe(linux);
    expect(commands.includes(await password())).toBe(false);
    const rules = await query(database.url, 'SELECT DISTINCT auth_method AS m FROM pg_hba_file_rules');
    expect(rules).toEqual([{ m: 'scram-sha-256' }]);
    const wrong = new URL(database.url);
    wrong.password = 'wrong';
    await expect(query(wrong.href, 'SELECT 1')).rejects.toMatchObject({ code: '28P01' });
  });

  it('writes neither its password nor values from statements to its log', async () => {
    const row = "INSERT INTO secret VALUES ('4111111111111111')";
    await query(database.url, 'CREATE TABLE secret (n text PRIMARY KEY CHECK (length(n) < 20))');
    await query(database.url, row);
    await expect(query(database.url, row)).rejects.toMatchObject({ code: '23505' });
    await expect(query(database.url, `${row}, ('4111111111111111111111')`)).rejects.toThrow();
    await expect(query(database.url, "SELECT '4111111111111111x'::int")).rejects.toThrow();
    const log = await readFile(join(database.directory, 'postgres.log'), 'utf8');
    expect(log).toContain('ready to accept connections');
    // Longer than the process IDs and ports in the log, which may have any four digits.
    for (const secret of ['41111111', await password()]) expect(log).not.toContain(secret);
  });

  it('starts again with its data in spite of a postmaster.pid that names another process', async () => {
    // Of PostgreSQL's own user: PostgreSQL itself takes a process of another user for something else.
    const stranger = spawn('sleep', ['600'], isRoot() ? nobody() : {});
    onTestFinished(() => void stranger.kill());
    const { directory, url } = database;
    await query(url, 'CREATE TABLE kept AS SELECT 42 AS n');
    await database.stop();
    const lines = [stranger.pid, join(directory, 'data'), 1, 5432, directory, '', '1 1', 'ready'];
    await writeFile(postmasterFile(), `${lines.join('\n')}\n`);
    await writeFile(join(directory, '.s.PGSQL.5432.lock'), `${lines[0]}\n`);
    expect(await runningUrl(dataDir)).toBeUndefined();
    await restart();
    expect(database).toMatchObject({ started: true, url });
    expect(await query(url, 'SELECT n FROM kept')).toEqual([{ n: 42 }]);
    expect([stranger.exitCode, stranger.signalCode]).toEqual([null, null]);
  });

  it.runIf(linux)(
    'says what to do about a PostgreSQL that does not answer, and leaves it alone',
    async () => {
      const pid = Number.parseInt(await readFile(postmasterFile(), 'utf8'), 10);
      process.kill(pid, 'SIGSTOP');
      try {
        const advice = new RegExp(
          `Process ${pid} .* does not answer.* kill -INT ${pid}.* remove .*postmaster.pid`,
        );
        await expect(startEmbedded({ dataDir })).rejects.toThrow(advice);
      } finally {
        process.kill(pid, 'SIGCONT');
      }
      expect(await runningUrl(dataDir)).toBe(database.url);
    },
  );

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

  it('stops what it has started when it cannot use it', async () => {
    await database.stop();
    const file = join(dataDir, 'postgres-password');
    const right = await readFile(file, 'utf8');
    await writeFile(file, 'another\n');
    try {
      await expect(startEmbedded({ dataDir })).rejects.toThrow(/refuses the password in DATA_DIR/);
    } finally {
      await writeFile(file, right, { mode: 0o600 });
    }
    expect(await runningUrl(dataDir)).toBeUndefined();
    await restart();
    expect(database.started).toBe(true);
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

describe('the path of the folder', () => {
  async function startIn(name: string): Promise<EmbeddedDatabase> {
    const parent = await newDataDir();
    onTestFinished(() => parent[Symbol.asyncDispose]());
    const database = await startEmbedded({ dataDir: join(parent.path, name) });
    onTestFinished(() => database.stop());
    return database;
  }

  it('may be too long for a socket: then it listens on a port of the loopback address, which it keeps', async () => {
    const first = await startIn('x'.repeat(90));
    const settings =
      "SELECT current_setting('listen_addresses') AS host, current_setting('unix_socket_directories') AS socket";
    expect(await query(first.url, settings)).toEqual([{ host: '127.0.0.1', socket: '' }]);
    const { hostname, port } = new URL(first.url);
    expect(hostname).toBe('127.0.0.1');
    expect(['', '5432']).not.toContain(port);
    const rules = await query(first.url, 'SELECT DISTINCT auth_method AS m FROM pg_hba_file_rules');
    expect(rules).toEqual([{ m: 'scram-sha-256' }]);
    const dataDir = dirname(first.directory);
    const adopted = await startEmbedded({ dataDir });
    expect(adopted).toMatchObject({ started: false, url: first.url });
    await adopted.stop();
    const again = await startEmbedded({ dataDir });
    expect(again).toMatchObject({ started: true, url: first.url });
    await again.stop();
  });

  it('may contain spaces, percent signs and letters of any language', async () => {
    const database = await startIn('a b+ü%41 &c');
    expect(database.url).toContain('/a%20b%2B%C3%BC%2541%20%26c/postgres&port=');
    expect(await query(database.url, 'SELECT inet_server_addr() AS a')).toEqual([{ a: null }]);
  });

  it('is one for a socket up to 100 bytes with the name of the socket, without commas, quotes and line breaks', () => {
    const longest = `/${'x'.repeat(100 - '//.s.PGSQL.5432'.length)}`;
    expect(socketAddress(longest)).toEqual({ host: longest, port: 5432 });
    for (const directory of [`${longest}x`, '/a,b', '/"a"', '/a\n', `/${'ü'.repeat(44)}`])
      expect(socketAddress(directory), directory).toBeUndefined();
  });
});
