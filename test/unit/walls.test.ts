// Who may import whom. The rooms of the house stay separate only while something holds the walls.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..', '..');

// Room → rooms that it may import from. A room may always import from itself.
const walls: Record<string, string[]> = {
  generated: [],
  'server/errors.ts': [],
  'server/config.ts': [],
  'server/domain': ['generated', 'server/errors.ts'],
  'server/store': ['generated', 'server/errors.ts', 'server/domain'],
  'server/contract': ['generated', 'server/errors.ts'],
  'server/handlers': ['generated', 'server/errors.ts', 'server/domain', 'server/store'],
  // What service and mock have in common before keys and data matter, so neither of those in here.
  'server/edge': ['generated', 'server/errors.ts'],
  'server/http': [
    ...['generated', 'server/errors.ts', 'server/contract', 'server/domain', 'server/edge', 'server/store'],
  ],
  'server/sandbox': ['generated', 'server/errors.ts', 'server/contract', 'server/domain', 'server/store'],
  'server/webhooks': ['generated', 'server/errors.ts', 'server/contract', 'server/domain', 'server/store'],
  client: ['generated'],
  scripts: ['generated'],
  mock: ['generated', 'server/contract', 'server/domain', 'server/edge', 'server/errors.ts'],
};
// Handlers and http steps may name the types of the store, never call into its connection.
const typesOnly: [from: string, to: string][] = [
  ['server/handlers', 'server/store'],
  ['server/http', 'server/store'],
];

const roomOf = (file: string) =>
  Object.keys(walls)
    .filter((room) => file === room || file.startsWith(`${room}/`))
    .sort((a, b) => b.length - a.length)[0];

const files = Object.keys(walls).flatMap((room) => {
  if (room.endsWith('.ts')) return [room];
  const entries = (() => {
    try {
      return readdirSync(join(root, room), { recursive: true, encoding: 'utf8' });
    } catch {
      return [];
    }
  })();
  return entries
    .filter((entry) => /\.(ts|js|mjs)$/.test(entry))
    .map((entry) => `${room}/${entry.split(sep).join('/')}`);
});

function importsOf(file: string): { target: string; typeOnly: boolean }[] {
  const text = readFileSync(join(root, file), 'utf8');
  const statements = text.matchAll(
    /^\s*(?:import|export)\s+(type\s+)?[^'";]*?from\s+'(\.[^']+)'|import\(\s*'(\.[^']+)'\s*\)/gm,
  );
  return [...statements].map((match) => ({
    target: relative(root, join(root, dirname(file), match[2] ?? match[3] ?? ''))
      .split(sep)
      .join('/'),
    typeOnly: match[1] !== undefined,
  }));
}

describe('the walls of the house', () => {
  it('are looked at in every room that exists', () => {
    expect(files.length).toBeGreaterThan(20);
  });

  it.each(files.filter((file) => !file.endsWith('config.ts')))(
    '%s imports only from rooms it may see',
    (file) => {
      const room = roomOf(file) ?? '';
      for (const { target, typeOnly } of importsOf(file)) {
        const other = roomOf(target) ?? target;
        if (other === room) continue;
        expect(walls[room], `${file} imports ${target}`).toContain(other);
        if (typesOnly.some(([from, to]) => from === room && to === other)) {
          expect(typeOnly, `${file} may import only types from ${target}`).toBe(true);
        }
      }
    },
  );

  it('only config.ts reads process.env in the server', () => {
    const readers = files.filter(
      (file) => file.startsWith('server/') && /process\.env\b/.test(readFileSync(join(root, file), 'utf8')),
    );
    expect(readers.filter((file) => file !== 'server/config.ts')).toEqual([]);
  });
});
