// `npm run generate` names the migrations that are not committed yet, as often as it runs; other commands notice that it has to run.
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  isListStale,
  migrationsFile,
  migrationsIndex,
  newMigrations,
} from '../../scripts/generate/migrations.ts';

let project: string;
const add = (name: string, content = '') =>
  writeFile(join(project, 'server/database/migrations', name), content);
beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'new-migrations-'));
  await mkdir(join(project, 'server/database/migrations'), { recursive: true });
  await add('0001-first.ts');
});
afterAll(() => rm(project, { recursive: true, force: true }));

it('names none without a repository, and then those that are not in the last commit', async () => {
  expect(await newMigrations(project)).toEqual([]);
  const git = (...args: string[]) => execFileSync('git', args, { cwd: project });
  git('init', '--quiet');
  git('add', '.');
  git('-c', 'user.name=Test', '-c', 'user.email=test@example.com', 'commit', '--quiet', '-m', 'first');
  await add('0002-second.ts');
  await add('index.ts');
  expect(await newMigrations(project)).toEqual(['0002-second']);
});

it('notices one that was added or edited, and code that is part of one', async () => {
  const list = async () => writeFile(join(project, migrationsFile), await migrationsIndex(project));
  await list();
  expect(await isListStale(project)).toBe(false);
  await add('0003-third.ts');
  expect(await isListStale(project)).toBe(true);
  await list();
  await add('0003-third.ts', '// more');
  expect(await isListStale(project)).toBe(true);
  await list();
  await mkdir(join(project, 'server/database/migrations/0003-third'));
  await add('0003-third/.DS_Store');
  expect(await isListStale(project)).toBe(false);
  await add('0003-third/table.ts', '// more');
  expect(await isListStale(project)).toBe(true);
});
