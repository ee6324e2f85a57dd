// `npm test` with words: those of folders that it leaves out.
import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { root } from '../../scripts/support/root.ts';

it.each([
  ['diff-review', 'npm run test:tools -- diff-review'],
  ['test/process/uncaught.test.ts', 'npm run test:process -- test/process/uncaught.test.ts'],
])('npm test -- %s names the command that runs it', (word, command) => {
  const { stdout, stderr } = spawnSync('npm', ['test', '--silent', '--', word], {
    cwd: root,
    encoding: 'utf8',
  });
  expect(stdout + stderr).toContain(command);
});

it('a script that runs a folder does not take the name of that for a test', () => {
  const { stdout, status } = spawnSync('npm', ['run', '--silent', 'test:tools', '--', 'no-such-test'], {
    cwd: root,
    encoding: 'utf8',
  });
  expect([status, stdout]).toEqual([1, expect.not.stringContaining('More in')]);
});
