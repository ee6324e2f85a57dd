/**
 * Three PostgreSQL servers under Patroni with synchronous replication, etcd, and HAProxy, which leads to the primary. All of them
 * are processes in a scratch folder, on free ports of loopback.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { programs } from '../../scripts/nightly/needs.ts';
import { withClient } from './cluster.ts';
import { eventually } from './data-dir.ts';
import { childrenOf } from './freeze.ts';
import { startAsOrdinaryUser } from './ordinary-user.ts';
import { freePort, isListening } from './ports.ts';
import type { Child } from './processes.ts';

export interface Patroni extends AsyncDisposable {
  /** Of a database `payments`, through HAProxy. */
  url: string;
  /** The name of the primary; waits for one. */
  leader: () => Promise<string>;
  /** Resolves when another node is the primary. */
  takenOver: (before: string) => Promise<void>;
  /** Resolves when all nodes run and one of them is the synchronous standby. */
  whole: () => Promise<void>;
  /** SIGKILL for the postmaster and all of its processes; Patroni lives on. */
  killPostgres: (name: string) => void;
  /** SIGKILL for Patroni, too. */
  killNode: (name: string) => Promise<void>;
  startNode: (name: string) => Promise<void>;
  /** SIGSTOP for PostgreSQL and Patroni, as when a hypervisor stops the machine: sockets stay open. Returns what thaws it. */
  freezeNode: (name: string) => () => void;
  /** Patroni's planned change of the primary. */
  switchOver: (from: string) => Promise<void>;
}

interface Node {
  name: string;
  folder: string;
  api: number;
  port: number;
  child?: Child;
}

interface Member {
  name: string;
  role: string;
  state: string;
}

/** Seconds. A busy machine may need many of them, and a node that gets no CPU loses its lease, so that another one takes over. */
const patience = 180;
const bin = programs.initdb.replace(/\/initdb$/, '');

export async function startPatroni(): Promise<Patroni> {
  const folder = await mkdtemp(join(tmpdir(), 'payments-patroni-'));
  await chmod(folder, 0o755);
  const password = randomBytes(18).toString('hex');
  const etcdPort = await freePort();
  const etcd = await startEtcd(join(folder, 'etcd'), etcdPort);
  const nodes: Node[] = [];
  for (const name of ['one', 'two', 'three'])
    nodes.push({ name, folder: join(folder, name), api: await freePort(), port: await freePort() });

  const nodeOf = (name: string): Node => {
    const node = nodes.find((one) => one.name === name);
    if (!node) throw new Error(`There is no node ${name}.`);
    return node;
  };
  const startNode = async (name: string) => {
    const node = nodeOf(name);
    await mkdir(node.folder, { recursive: true });
    const file = join(node.folder, 'patroni.yaml');
    // JSON is YAML, too.
    await writeFile(file, JSON.stringify(settingsOf(node, etcdPort, password)), { mode: 0o600 });
    node.child = startAsOrdinaryUser(node.folder, programs.patroni, [file]);
    // A backend that loses its postmaster while it waits for a standby reads its standard input, and must find the end of it.
    node.child.process.stdin.end();
  };
  /** From the node that is fastest: one that is frozen does not answer. */
  const members = (): Promise<Member[]> =>
    Promise.any(
      nodes.map(async ({ api }) => {
        const answer = await fetch(`http://127.0.0.1:${api}/cluster`, { signal: AbortSignal.timeout(3_000) });
        return ((await answer.json()) as { members: Member[] }).members;
      }),
    ).catch(() => []);
  const signalPostgres = (name: string, sent: NodeJS.Signals) => {
    const file = join(nodeOf(name).folder, 'data', 'postmaster.pid');
    if (!existsSync(file)) return;
    const postmaster = Number(readFileSync(file, 'utf8').split('\n')[0]);
    // It starts nothing more, and is still the parent of all when they are listed.
    signal(postmaster, 'SIGSTOP');
    for (const pid of [...childrenOf(postmaster), postmaster]) signal(pid, sent);
  };
  const killPostgres = (name: string) => {
    signalPostgres(name, 'SIGKILL');
  };
  const killNode = async (name: string) => {
    const { child } = nodeOf(name);
    child?.process.kill('SIGKILL');
    killPostgres(name);
    await child?.ended;
  };
  const findLeader = async () => (await members()).find(({ role }) => role === 'leader')?.name;
  const isWhole = async () => {
    const all = await members();
    const running = all.filter(({ state }) => state === 'running' || state === 'streaming');
    const roles = running.map(({ role }) => role);
    return running.length === nodes.length && roles.includes('leader') && roles.includes('sync_standby');
  };
  const whole = () => eventually(isWhole, 'all nodes replicate', patience);

  const proxy = await startProxy(join(folder, 'haproxy'), nodes);
  const urlOf = (database: string) => `postgres://postgres:${password}@127.0.0.1:${proxy.port}/${database}`;
  const end = async () => {
    for (const { name } of nodes) await killNode(name);
    for (const child of [proxy.child, etcd]) {
      child.process.kill('SIGKILL');
      await child.ended;
    }
    await rm(folder, { recursive: true, force: true });
  };
  const createDatabase = () =>
    withClient(urlOf('postgres'), (client) => client.query('create database payments')).then(
      () => true,
      () => false,
    );
  try {
    // The others copy the first, so it must exist.
    await startNode('one');
    await eventually(createDatabase, 'HAProxy leads to a primary', 60);
    await startNode('two');
    await startNode('three');
    await whole();
  } catch (error) {
    const said = nodes.map(({ child }) => child?.output().slice(-3_000) ?? '').join('\n');
    await end();
    throw new Error(`Patroni did not start:\n${said}`, { cause: error });
  }

  return {
    url: urlOf('payments'),
    leader: async () => {
      let leader: string | undefined;
      await eventually(
        async () => (leader = await findLeader()) !== undefined,
        'there is a primary',
        patience,
      );
      return leader ?? '';
    },
    takenOver: (before) =>
      eventually(
        async () => ![before, undefined].includes(await findLeader()),
        `another node than ${before} is the primary`,
        patience,
      ),
    whole,
    killPostgres,
    killNode,
    startNode,
    freezeNode: (name) => {
      const { pid } = nodeOf(name).child?.process ?? {};
      const send = (sent: NodeJS.Signals) => {
        if (pid !== undefined) signal(pid, sent);
        signalPostgres(name, sent);
      };
      send('SIGSTOP');
      return () => {
        send('SIGCONT');
      };
    },
    switchOver: async (from) => {
      const answer = await fetch(`http://127.0.0.1:${nodeOf(from).api}/switchover`, {
        method: 'POST',
        body: JSON.stringify({ leader: from }),
      });
      if (!answer.ok) throw new Error(`Patroni refused: ${await answer.text()}`);
    },
    [Symbol.asyncDispose]: end,
  };
}

function signal(pid: number, sent: NodeJS.Signals): void {
  try {
    process.kill(pid, sent);
  } catch {
    // It has ended, perhaps with the postmaster.
  }
}

async function startEtcd(folder: string, port: number): Promise<Child> {
  await mkdir(folder);
  const client = `http://127.0.0.1:${port}`;
  const peer = `http://127.0.0.1:${await freePort()}`;
  const args = [
    ...['--name=etcd', `--data-dir=${join(folder, 'data')}`],
    ...[`--listen-client-urls=${client}`, `--advertise-client-urls=${client}`],
    ...[`--listen-peer-urls=${peer}`, `--initial-advertise-peer-urls=${peer}`],
    ...[`--initial-cluster=etcd=${peer}`, '--enable-v2'],
  ];
  // Debian's etcd 3.4 wants this on ARM.
  const child = startAsOrdinaryUser(folder, programs.etcd, args, { ETCD_UNSUPPORTED_ARCH: process.arch });
  await eventually(async () => {
    if (child.process.exitCode !== null) throw new Error(`etcd ended: ${child.output()}`);
    return fetch(`${client}/health`).then(
      (answer) => answer.ok,
      () => false,
    );
  }, 'etcd is healthy');
  return child;
}

function settingsOf({ name, folder, api, port }: Node, etcdPort: number, password: string): object {
  const address = `127.0.0.1:${port}`;
  return {
    scope: 'payments',
    name,
    restapi: { listen: `127.0.0.1:${api}`, connect_address: `127.0.0.1:${api}` },
    // Version 2 of the protocol: with version 3, Patroni 3.0.2, which Debian 12 has, overwrites the key of a new leader after a
    // freeze. docs/scaling.md says more.
    etcd: { host: `127.0.0.1:${etcdPort}` },
    bootstrap: {
      dcs: {
        // The shortest `ttl` that Patroni documents: so long a dead node stays the primary for the others.
        ...{ ttl: 20, loop_wait: 2, retry_timeout: 5 },
        synchronous_mode: true,
        // Another node takes over at once, instead of waiting until the crashed one has recovered.
        primary_start_timeout: 0,
        postgresql: { use_pg_rewind: true, parameters: { max_connections: 100 } },
      },
      initdb: [{ encoding: 'UTF8' }, { locale: 'C.UTF-8' }, 'data-checksums'],
    },
    postgresql: {
      ...{ listen: address, connect_address: address },
      ...{ data_dir: join(folder, 'data'), bin_dir: bin, pgpass: join(folder, 'pgpass') },
      authentication: {
        superuser: { username: 'postgres', password },
        replication: { username: 'replicator', password },
      },
      parameters: { unix_socket_directories: folder },
      // Otherwise a new standby waits for minutes until a checkpoint has ended.
      basebackup: [{ checkpoint: 'fast' }],
      pg_hba: [
        'host all all 127.0.0.1/32 scram-sha-256',
        'host replication replicator 127.0.0.1/32 scram-sha-256',
      ],
    },
  };
}

async function startProxy(folder: string, nodes: readonly Node[]): Promise<{ port: number; child: Child }> {
  await mkdir(folder);
  const port = await freePort();
  const file = join(folder, 'haproxy.cfg');
  await writeFile(file, proxySettings(port, nodes));
  const child = startAsOrdinaryUser(folder, programs.haproxy, ['-db', '-f', file]);
  await eventually(() => {
    if (child.process.exitCode !== null) throw new Error(`HAProxy ended: ${child.output()}`);
    return isListening(port);
  }, 'HAProxy listens');
  return { port, child };
}

/** The same settings are in docs/scaling.md. */
const proxySettings = (port: number, nodes: readonly Node[]): string => `defaults
  mode tcp
  timeout connect 2s
  timeout client 1h
  timeout server 1h
listen primary
  bind 127.0.0.1:${port}
  option httpchk OPTIONS /primary
  http-check expect status 200
  default-server inter 1s fall 2 rise 1 on-marked-down shutdown-sessions
${nodes.map((node) => `  server ${node.name} 127.0.0.1:${node.port} check port ${node.api}`).join('\n')}
`;
