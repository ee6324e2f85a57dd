// One meaning per noun: the glossary names types that exist, and no name has two meanings.
import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const files = readdirSync('server', { recursive: true, encoding: 'utf8' }).filter((file) =>
  file.endsWith('.ts'),
);
const types = [...files.map((file) => `server/${file}`), 'generated/operations.ts'].flatMap((file) =>
  [...readFileSync(file, 'utf8').matchAll(/^export (?:declare )?(?:interface|type|class) (\w+)/gm)].map(
    ([, name = '']) => ({ name, file }),
  ),
);

it('the glossary names types that exist', () => {
  const named = [...readFileSync('docs/glossary.md', 'utf8').matchAll(/^\| `(\w+)`/gm)].map(
    ([, name = '']) => name,
  );
  expect(named.length).toBeGreaterThan(8);
  expect(named.filter((name) => !types.some((type) => type.name === name))).toEqual([]);
});

it('no two exported types have the same name', () => {
  const twice = types.filter(({ name, file }) =>
    types.some((other) => other.name === name && other.file !== file),
  );
  expect(twice).toEqual([]);
});
