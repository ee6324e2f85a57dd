// Every row of docs/open-points.md names where the decision is written and what holds it. Names of things that were moved or
// deleted are found here.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { operations } from '../../generated/operations.ts';

const root = join(import.meta.dirname, '../..');
const exists = (...path: string[]) => existsSync(join(root, ...path));
const rules = readFileSync(join(root, 'redocly.yaml'), 'utf8');
const endpoints = new Set<string>(
  Object.values(operations).map(({ method, path }) => `${method.toUpperCase()} ${path}`),
);

function isThere(name: string): boolean {
  if (name.startsWith('house/')) return rules.includes(`  ${name}:`);
  if (/^(GET|POST) /.test(name)) return endpoints.has(name);
  if (name.endsWith('.md')) return exists('docs', name) || exists(name);
  return exists(name) || exists('openapi/components', `${name}.yaml`);
}

const namesIn = (cell: string) =>
  [...cell.matchAll(/`([^`]+)`|\]\(([^)]+)\)/g)].map(([, code, link]) => code ?? link ?? '');

const rows = readFileSync(join(root, 'docs/open-points.md'), 'utf8')
  .split('\n')
  .filter((line) => /^\| (?!-|Point )/.test(line))
  .map((line) => line.split(' | ').map((cell) => cell.replace(/^\| | *\|?$/g, '')));

it.each(rows)('%s', (_point, decision, place, holder, ...more) => {
  expect(more).toEqual([]);
  expect(decision).not.toBe('');
  for (const cell of [place, holder]) {
    const names = namesIn(cell);
    expect(names.length).toBeGreaterThan(0);
    expect(names.filter((name) => !isThere(name))).toEqual([]);
  }
});

it('has a row for each point', () => {
  expect(rows.length).toBeGreaterThan(60);
  // A value that the specification's list of locations does not have.
  expect(rows.map(([point]) => point)).toContain('`details[].location`');
});
