// Released migrations are frozen, comments included: 1.0.0 and 1.1.0 compare the digests that a database has recorded with those of
// their own files, and refuse to start if they differ.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { migrationsIndex } from '../../scripts/generate/migrations.ts';
import { root } from '../../scripts/support/root.ts';
import { digests } from '../../server/migrations/index.ts';

const released: Record<string, string> = {
  '0001-schema': 'b65d33e1ff97',
  '0002-retries': '4607cb08ad26',
  '0003-number-buckets': '2d88ff673cea',
  '0004-events-for-one': '8a42265df981',
  '0005-updated-after-created': '195340ff025b',
  '0006-attempts-by-time': '52d6ef5c14e7',
  '0007-cards-in-processing': 'eb2c13687ec7',
  '0008-all-accounts': '677d5c919e56',
};

it.each(Object.entries(released))('%s is as it was released', async (name, digest) => {
  const message = `Released migrations are never edited, not even their comments. Undo the change of ${name}, and write another migration.`;
  // The digests of the files as they are, and those that the service records.
  expect(await migrationsIndex(root), message).toContain(`  '${name}': '${digest}',\n`);
  expect(digests[name], message).toBe(digest);
});

it('the list above has every migration of the last release, as a database of that release has recorded it', () => {
  const dumps = join(root, 'test/fixtures/releases');
  const versions = readdirSync(dumps).filter((name) => /^\d/.test(name));
  const last = versions.sort((a, b) => a.localeCompare(b, 'en', { numeric: true })).at(-1) ?? '';
  const data = readFileSync(join(dumps, last, 'data.sql'), 'utf8');
  const recorded = data.matchAll(/^\t\('(\d{4}-[a-z0-9-]+)', '([0-9a-f]{12})', /gm);
  expect(released).toEqual(Object.fromEntries([...recorded].map(([, name, digest]) => [name, digest])));
});

const folder = join(root, 'server/migrations');
const comment = /\/\*.*?\*\/|\/\/[^\n]*|--[^\n]*/gs;
const drops = [
  /\bdrop\b(?!\s+(?:default|not\s+null)\b)|\brename\b/i,
  // Of Kysely.
  /\b(?:drop(?!Default|NotNull)|rename)[A-Z]/,
];
const dropsIn = (code: string): boolean => drops.some((one) => one.test(code.replace(comment, '')));

it.each([
  'drop table buyers',
  'drop index concurrently buyers_newest',
  'alter table buyers drop display_name',
  'ALTER TABLE buyers\n  RENAME COLUMN display_name TO name',
  `db.schema.alterTable('buyers').dropColumn('display_name')`,
  `db.schema.alterTable('buyers').renameTo('people')`,
])('%j is found', (code) => {
  expect(dropsIn(code)).toBe(true);
});

it.each([
  'alter table buyers add column dropped_at timestamptz',
  'alter table buyers alter column display_name drop not null',
  'alter table buyers alter column display_name drop default',
  '// Nobody can drop table buyers.\nselect 1',
])('%j is none', (code) => {
  expect(dropsIn(code)).toBe(false);
});

/** Migrations that drop only what the release before does not read any more. */
const unread: string[] = [];

it('a new migration drops nothing that the release before reads', () => {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (file) => /^\d{4}-.*\.ts$/.test(file) && !((file.split(/[./]/)[0] ?? '') in released),
  );
  const dropping = files.filter(
    (file) => !unread.includes(file) && dropsIn(readFileSync(join(folder, file), 'utf8')),
  );
  expect(
    dropping,
    'Instances of the release before run beside this version, and after a step back. What they read is dropped a release later.',
  ).toEqual([]);
});
