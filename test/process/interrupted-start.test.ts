// A signal while the service or a command starts: it ends, leaves no PostgreSQL running, and the next start works.
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, readlink } from 'node:fs/promises';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { eventually, newDataDir, processesOn } from '../support/data-dir.ts';
import { createPayments, startNode, startServer, type Child } from '../support/processes.ts';
import { shareOf } from '../support/random.ts';

/** What tells that a start has come so far, in DATA_DIR or in its log. */
const moments: [name: string, isReached: (dataDir: string, child: Child) => boolean | Promise<boolean>][] = [
  ['the process', () => true],
  ['DATA_DIR', (dataDir) => existsSync(dataDir)],
  ['the password', (dataDir) => existsSync(join(dataDir, 'postgres-password'))],
  [
    'initdb',
    async (dataDir) => (await namesIn(join(dataDir, 'postgres'))).some((name) => /^new-/.test(name)),
  ],
  ['the cluster', (dataDir) => existsSync(join(dataDir, 'postgres/data/PG_VERSION'))],
  ['postmaster.pid', (dataDir) => existsSync(join(dataDir, 'postgres/data/postmaster.pid'))],
  ['the secrets', (dataDir) => existsSync(join(dataDir, 'secrets.json'))],
  ['the line that it listens', (_dataDir, child) => child.stdout().includes('"listening"')],
];

const namesIn = (folder: string): Promise<string[]> => readdir(folder).catch(() => []);

/** initdb and pg_ctl have only relative paths as arguments. */
async function leftIn(folder: string): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const folders = await Promise.all(pids.map((pid) => readlink(`/proc/${pid}/cwd`).catch(() => '')));
  return [...(await processesOn(folder)), ...pids.filter((_, at) => folders[at]?.startsWith(`${folder}/`))];
}

/** Polls often, so that the moment is not missed. */
async function reaching(isReached: () => boolean | Promise<boolean>, child: Child): Promise<void> {
  while (!(await isReached()) && child.process.exitCode === null) await wait(1);
}

/** Ctrl-C reaches every process of the terminal's group; a service manager signals the first one. */
const signals: [name: NodeJS.Signals, send: (pid: number) => void][] = [
  ['SIGINT', (pid) => process.kill(-pid, 'SIGINT')],
  ['SIGTERM', (pid) => process.kill(pid, 'SIGTERM')],
];

describe.runIf(process.platform === 'linux')('a signal after', () => {
  it.each(shareOf(moments))('%s: nothing is left, and the next start works', async (name, isReached) => {
    await Promise.all(
      signals.map(async ([signal, send]) => {
        await using dataDir = await newDataDir();
        const env = { DATA_DIR: dataDir.path, PORT: '0' };
        const child = startNode('server/main.ts', [], { env, detached: true });
        await reaching(() => isReached(dataDir.path, child), child);
        send(child.process.pid ?? 0);
        const { status, stdout, stderr } = await child.ended;
        expect([signal, await leftIn(dataDir.path)]).toEqual([signal, []]);
        // At the first moment there is nobody yet who could hear the signal.
        if (name !== 'the process') expect([signal, status, stderr]).toEqual([signal, 0, '']);
        expect(stdout).not.toContain('"level":50');
        const next = await startServer(env);
        expect((await fetch(`${next.url}/readyz`)).status).toBe(200);
        expect((await next.stop()).status).toBe(0);
        expect(await leftIn(dataDir.path)).toEqual([]);
      }),
    );
  });

  const ofCommands = moments.filter(([name]) => ['initdb', 'postmaster.pid'].includes(name));
  it.each(shareOf(ofCommands))('%s: a command leaves nothing, too', async (_name, isReached) => {
    await Promise.all(
      signals.map(async ([signal, send]) => {
        await using dataDir = await newDataDir();
        const env = { DATA_DIR: dataDir.path };
        const args = ['accounts', 'create', 'new', '--name', 'New'];
        const child = startNode('server/cli/main.ts', args, { env, detached: true });
        await reaching(() => isReached(dataDir.path, child), child);
        send(child.process.pid ?? 0);
        // One Ctrl-C arrives twice: npm hands it on.
        await wait(20);
        if (child.process.exitCode === null) send(child.process.pid ?? 0);
        await child.ended;
        expect([signal, await leftIn(dataDir.path)]).toEqual([signal, []]);
        const { status } = await createPayments(env)(['accounts', 'create', 'next', '--name', 'Next']);
        expect(status).toBe(0);
      }),
    );
  });
});

it('a start that fails after a signal was stopped: it ends with 0', async () => {
  await using dataDir = await newDataDir();
  const database = createServer().listen(0, '127.0.0.1');
  await once(database, 'listening');
  const { port } = database.address() as AddressInfo;
  const env = { DATABASE_URL: `postgres://x@127.0.0.1:${port}/x`, DATA_DIR: dataDir.path, PORT: '0' };
  const child = startNode('server/main.ts', [], { env });
  const [connection] = (await once(database, 'connection')) as [Socket];
  child.process.kill('SIGTERM');
  await eventually(() => child.stdout().includes('finishing the start'), 'it hears the signal');
  connection.destroy();
  database.close();
  const { status, stdout } = await child.ended;
  expect(stdout).toContain('the start failed while it was stopped');
  expect(stdout).not.toContain('did not start');
  expect(status).toBe(0);
});
