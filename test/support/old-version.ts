/**
 * Versions of this project from the history of Git, and a PostgreSQL of Debian for them. Nothing of vitest is used here, because
 * test/fixtures/releases/make.ts runs without it.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { programs } from '../../scripts/nightly/needs.ts';
import { root } from '../../scripts/support/root.ts';
import { freePort } from './ports.ts';

/** The programs of PostgreSQL 15, the oldest that is supported. */
export const bin = dirname(programs.initdb);

export const run = (command: string, args: string[], options: { cwd?: string; input?: string } = {}) =>
  execFileSync(command, args, {
    encoding: 'utf8',
    stdio: ['pipe', 'pipe', 'inherit'],
    maxBuffer: 64_000_000,
    ...options,
  });

/** The folder of a version with its packages. It is kept, because installing them takes a minute or two. */
export function checkOut(commit: string): string {
  const id = run('git', ['rev-parse', '--short=8', '--verify', `${commit}^{commit}`], { cwd: root }).trim();
  const folder = join(root, 'node_modules', '.cache', 'releases', id);
  if (existsSync(folder)) return folder;
  // An interrupted call leaves the draft behind, never a folder that looks complete.
  const draft = `${folder}.draft`;
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { recursive: true });
  const archive = `${folder}.tar`;
  run('git', ['archive', '--output', archive, id], { cwd: root });
  run('tar', ['xf', archive, '-C', draft]);
  rmSync(archive);
  const quiet = ['--silent', '--no-audit', '--no-fund'];
  run('npm', ['ci', '--prefer-offline', '--ignore-scripts', ...quiet], { cwd: draft });
  // Since 1.2.0 Git does not have the compiled validators. The first program that is bundled makes them.
  run('node', ['scripts/run.js', 'server/cli/main.ts', '--help'], { cwd: draft });
  renameSync(draft, folder);
  return folder;
}

/** An empty PostgreSQL 15. It refuses to run as root, and then runs as the user whom Debian made for it. */
export async function startPostgres(): Promise<{ url: string; stop: () => void }> {
  const folder = mkdtempSync(join(tmpdir(), 'postgres-15-'));
  chmodSync(folder, 0o755);
  const cluster = join(folder, 'cluster');
  mkdirSync(cluster);
  const isRoot = process.getuid?.() === 0;
  if (isRoot) run('chown', ['postgres', cluster]);
  const asPostgres = isRoot ? ['setpriv', '--reuid=postgres', '--regid=postgres', '--init-groups'] : [];
  const start = (program: string, ...args: string[]) => {
    const [command = '', ...rest] = [...asPostgres, join(bin, program), '-D', cluster, ...args];
    run(command, rest);
  };
  const port = await freePort();
  start('initdb', '-U', 'postgres', '-A', 'trust', '--locale=C.UTF-8', '-E', 'UTF8');
  const settings = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=''`;
  start('pg_ctl', '-w', '-s', '-l', join(cluster, 'log'), '-o', settings, 'start');
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    stop: () => {
      start('pg_ctl', '-w', '-s', '-m', 'fast', 'stop');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
