// The guide for backend engineers lists everything that a handler receives.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { expect, it } from 'vitest';
import { root } from '../../scripts/support/root.ts';

const read = (file: string) => readFileSync(join(root, file), 'utf8');

/** The names of an interface's own properties. */
function propertiesOf(file: string, name: string): string[] {
  const source = ts.createSourceFile(file, read(file), ts.ScriptTarget.Latest);
  const found = source.statements.find((one) => ts.isInterfaceDeclaration(one) && one.name.text === name);
  return found && ts.isInterfaceDeclaration(found)
    ? found.members.flatMap((member) => (member.name ? member.name.getText(source) : []))
    : [];
}

it('names each property of Deps and WriteDeps in the table, and no other', () => {
  // `WriteDeps` is both.
  const given = [
    ...propertiesOf('server/handlers/deps.ts', 'Deps'),
    ...propertiesOf('server/serving.ts', 'OwnDeps'),
    ...propertiesOf('server/kit/http/answer.ts', 'Writes'),
  ];
  const table = /\| A handler receives[^]*?\n\n/.exec(read('docs/guides/backend-engineer.md'))?.[0] ?? '';
  const firstColumns = table.split('\n').map((row) => row.split('|')[1] ?? '');
  const told = firstColumns.flatMap((cell) => [...cell.matchAll(/`deps\.(\w+)`/g)].map(([, name]) => name));
  expect(given).toContain('inUnitOfWork');
  expect(told.sort()).toEqual(given.sort());
});
