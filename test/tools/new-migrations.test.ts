// Commands notice that `npm run generate` has to list a migration.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { isListStale, migrationsFile, migrationsIndex } from '../../scripts/generate/migrations.ts';

let project: string;
const add = (name: string, content = '') => writeFile(join(project, 'server/migrations', name), content);
beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'new-migrations-'));
  await mkdir(join(project, 'server/migrations'), { recursive: true });
  await add('0001-first.ts');
});
afterAll(() => rm(project, { recursive: true, force: true }));

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
  await mkdir(join(project, 'server/migrations/0003-third'));
  await add('0003-third/.DS_Store');
  expect(await isListStale(project)).toBe(false);
  await add('0003-third/table.ts', '// more');
  expect(await isListStale(project)).toBe(true);
});
