// `npm test -- diff` names tests that `npm test` leaves out: says which command runs them.
import { existsSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';

const root = join(import.meta.dirname, '..');

const filesIn = (folder: string) =>
  // Another API may have none of them yet.
  existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: 'utf8' }) : [];

const testsIn = (folder: string) =>
  filesIn(join(root, folder))
    .map((file) => `test/${folder}/${file}`)
    // Those in these folders have commands of their own, for other machines.
    .filter((file) => file.endsWith('.test.ts') && !/\/(nightly|citus|scale|upgrades)\//.test(file));

export default class ElsewhereReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    // `run`, and the folder of a script of package.json, are no names of tests.
    const words = process.argv
      .slice(3)
      .filter((word, index, all) => /^[\w./][\w./-]*$/.test(word) && all[index - 1] !== '--dir');
    const ran = new Set(modules.map(({ moduleId }) => relative(join(root, '..'), moduleId)));
    for (const folder of ['process', 'tools']) {
      const left = testsIn(folder).filter((file) => !ran.has(file));
      const named = words.filter((word) => left.some((file) => file.includes(word)));
      if (named.length > 0)
        process.stdout.write(`\nMore in test/${folder}/: npm run test:${folder} -- ${named.join(' ')}\n`);
    }
  }
}
