// After the recipes of the guides all tests of `npm test` are green, not only those that test/tools/recipes.test.ts runs.
import { expect, it } from 'vitest';
import { cloneProject } from '../../support/clone.ts';
import { run } from '../../support/processes.ts';
import { followRecipes, testsThere } from '../../support/recipes.ts';

it('npm test', async () => {
  await using made = await cloneProject();
  await followRecipes(made.folder);
  // A test asks Git for the files.
  await run('git', ['init', '-q'], { cwd: made.folder });
  const { status, output } = await testsThere(made.folder);
  expect(status, output).toBe(0);
}, 1_200_000);
