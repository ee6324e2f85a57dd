import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { eventually, nothingRunsOn } from '../support/data-dir.ts';
import { root } from '../support/processes.ts';

it.each([
  ['prepares the database', /payments-test-/],
  ['runs tests', /payments-service-/],
])('npm test, stopped by Ctrl+C while it %s, leaves no PostgreSQL and no folder', async (_when, sign) => {
  const folder = await mkdtemp(join(tmpdir(), 'ctrl-c-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  // As root, PostgreSQL runs as another user.
  await chmod(folder, 0o755);
  // In a process group of its own: a terminal sends the signal to npm and to everything that it started.
  const npm = spawn('npm', ['test', '--', 'service/json'], {
    cwd: root,
    // npm would keep its compiled code in that folder.
    env: { ...process.env, TMPDIR: folder, TEST_DATABASE_URL: undefined, NODE_DISABLE_COMPILE_CACHE: '1' },
    detached: true,
    stdio: 'ignore',
  });
  const ended = once(npm, 'exit');
  const isThere = async () => (await readdir(folder, { recursive: true })).some((name) => sign.test(name));
  await eventually(isThere, `there is ${String(sign)}`);
  process.kill(-(npm.pid ?? 0), 'SIGINT');
  expect(await ended).not.toEqual([0, null]);
  await nothingRunsOn(folder);
  expect(await readdir(folder)).toEqual([]);
});

it('tests make their folders, which have keys in them, in the folder of the run', () => {
  expect(basename(tmpdir())).toMatch(/^payments-test-/);
});
