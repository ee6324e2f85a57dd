// What parts of the nightly run need beside npm, how to see whether it is there, and which packages of Debian 12 have it.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

export interface Need {
  what: string;
  isThere: () => boolean;
  debian?: readonly string[];
}

/** Where Debian installs these. */
export const programs = {
  initdb: '/usr/lib/postgresql/15/bin/initdb',
  patroni: '/usr/bin/patroni',
  etcd: '/usr/bin/etcd',
  haproxy: '/usr/sbin/haproxy',
  pgbouncer: '/usr/sbin/pgbouncer',
};

const program = (what: string, file: string, name: string): Need => ({
  what,
  isThere: () => existsSync(file),
  debian: [name],
});

export const runs = (command: string, ...args: string[]): boolean => spawnSync(command, args).status === 0;

const browsers = ['chromium-headless-shell', 'chromium'].map((name) => `/usr/bin/${name}`);

/** Debian's has the packages of Debian; another one may be first in the path. */
export const findPython = (): string | undefined =>
  ['python3', '/usr/bin/python3'].find((python) => runs(python, '-c', 'import cryptography, jwt, requests'));

export const needs = {
  postgresql15: program('PostgreSQL 15', programs.initdb, 'postgresql-15'),
  patroni: program('Patroni', programs.patroni, 'patroni'),
  etcd: program('etcd', programs.etcd, 'etcd-server'),
  haproxy: program('HAProxy', programs.haproxy, 'haproxy'),
  pgbouncer: program('PgBouncer', programs.pgbouncer, 'pgbouncer'),
  chromium: {
    what: 'Chromium',
    isThere: () => [process.env.CHROMIUM_PATH ?? '', ...browsers].some((file) => existsSync(file)),
    debian: ['chromium-headless-shell'],
  },
  python: {
    what: 'Python with cryptography, jwt and requests',
    isThere: () => findPython() !== undefined,
    debian: ['python3-cryptography', 'python3-jwt', 'python3-requests'],
  },
  php: {
    what: 'PHP with curl',
    isThere: () => runs('php', '-r', 'exit(function_exists("curl_init") ? 0 : 1);'),
    debian: ['php-cli', 'php-curl'],
  },
  go: { what: 'Go', isThere: () => runs('go', 'version'), debian: ['golang-go'] },
  root: { what: 'root', isThere: () => process.getuid?.() === 0 },
  citus: {
    what: 'TEST_CITUS_URL, a database on the coordinator of Citus (docs/scaling.md)',
    isThere: () => (process.env.TEST_CITUS_URL ?? '') !== '',
  },
  history: {
    what: 'the history of Git (git fetch --unshallow)',
    isThere: () =>
      String(spawnSync('git', ['rev-parse', '--is-shallow-repository']).stdout).trim() === 'false',
  },
} as const satisfies Record<string, Need>;

export const missingOf = (some: readonly Need[]): Need[] => some.filter((need) => !need.isThere());

export const packagesOf = (some: readonly Need[]): string[] => [
  ...new Set(some.flatMap(({ debian = [] }) => debian)),
];

/** Whether it could. */
export function installPackages(names: string[]): boolean {
  // In run level 1 Debian does not start the services that it installs.
  const env = { ...process.env, RUNLEVEL: '1', DEBIAN_FRONTEND: 'noninteractive' };
  const apt = (...args: string[]) =>
    spawnSync('apt-get', args, { stdio: ['ignore', 2, 2], env }).status === 0;
  return apt('update', '-qq') && apt('install', '-y', '-qq', '--no-install-recommends', ...names);
}
