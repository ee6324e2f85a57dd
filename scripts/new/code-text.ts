// Adds lines to TypeScript files, and names new ones.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Project } from './project.ts';

/** At the end of the object that begins with `head`. Its type may be written before it, and ends otherwise. */
export const addLine = (head: string, line: string) => (text: string) => {
  const start = text.indexOf(head);
  const end = start + text.slice(start).search(/\n\}(;|\)| as )/);
  if (start === -1 || end < start) throw new Error(`There is no "${head}" to add a line to.`);
  return `${text.slice(0, end + 1)}  ${line},\n${text.slice(end + 1)}`;
};

/** The next migration; `name` is in snake_case. */
export async function migrationFile(project: Project, name: string): Promise<string> {
  const folder = 'server/migrations';
  const numbers = (await readdir(join(project.root, folder))).map((file) => Number.parseInt(file, 10) || 0);
  const number = String(Math.max(0, ...numbers) + 1).padStart(4, '0');
  return `${folder}/${number}-${name.replaceAll('_', '-')}.ts`;
}

/** The type of a column, as server/resources names it. */
export const inSql = (type: string) => (type === 'timestamptz' ? 'timestamptz(3)' : type);

/** At the end of an object in another one: of the one that begins with `head`. */
export const addNested = (head: string, line: string) => (text: string) => {
  const start = text.indexOf(head);
  const end = start + text.slice(start).search(/\n {2}\},/);
  if (start === -1 || end < start) throw new Error(`There is no "${head}" to add a line to.`);
  return `${text.slice(0, end + 1)}    ${line},\n${text.slice(end + 1)}`;
};

/** The list of all tables, with what others need to know of them. */
export const factsFile = 'server/resources/facts.ts';

/** First, because the last ones have to be the last. */
export const addFacts = (table: string, name: string, folder: string) => (text: string) =>
  addImport(
    text.replace('\nexport const facts = {\n', `$&  ${table === name ? name : `${table}: ${name}`},\n`),
    name,
    `./${folder}/facts.ts`,
  );

/** Imports are sorted by their paths. Those of other folders come before. */
function addImport(text: string, name: string, path: string): string {
  const lines = text.split('\n');
  const pathOf = (line: string) => /^import .* from '(.*)';$/.exec(line)?.[1] ?? '';
  const next = lines.findIndex((line) => pathOf(line).startsWith('./') && pathOf(line) > path);
  const last = lines.findLastIndex((line) => pathOf(line) !== '');
  return lines.toSpliced(next === -1 ? last + 1 : next, 0, `import { ${name} } from '${path}';`).join('\n');
}
