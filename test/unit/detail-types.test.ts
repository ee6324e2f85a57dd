// The guide lists the kinds of faults in `details[].type`. They are texts in the code, so this compares both.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const literal = /'value_error\.([a-z_.]+)'/g;

it('the guide lists every kind of fault that the service and the mock tell', () => {
  const sources = ['server', 'mock'].flatMap((room) =>
    readdirSync(room, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => readFileSync(join(room, file), 'utf8')),
  );
  const told = new Set(sources.flatMap((text) => [...text.matchAll(literal)].map(([, kind]) => kind)));
  const guide = readFileSync('docs/guides/frontend-team.md', 'utf8');
  const [, table = ''] = /^\| `type`, after .+\n\|[-| ]+\n((?:\|.*\n)+)/m.exec(guide) ?? [];
  const listed = table.split('\n').flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`(.+?)`/g)]);
  expect(listed.map(([, kind]) => kind).sort()).toEqual([...told].sort());
});
