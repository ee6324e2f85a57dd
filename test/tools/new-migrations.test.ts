// `npm run generate` names the migrations that are not committed yet, as often as it runs; other commands those not listed.
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  migrationsFile,
  migrationsIndex,
  newMigrations,
  unlistedMigrations,
} from '../../scripts/generate/migrations.ts';

let project: string;
const add = (name: string) => writeFile(join(project, 'server/database/migrations', name), '');
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

it('names those that the list lacks', async () => {
  await writeFile(join(project, migrationsFile), await migrationsIndex(project));
  expect(await unlistedMigrations(project)).toEqual([]);
  await add('0003-third.ts');
  expect(await unlistedMigrations(project)).toEqual(['server/database/migrations/0003-third.ts']);
});
