/** Follows recipes of the guides in a copy of the project: each command and each file that they print. */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { inject } from 'vitest';
import { swap } from './contract-copy.ts';
import { createTestDatabase } from './database.ts';
import { root, run } from './processes.ts';

/** Page and heading, in an order in which they can be followed. */
export const recipes = [
  ['backend-engineer', 'A path parameter'],
  ['backend-engineer', 'Records in a test'],
  ['backend-engineer', 'A record that belongs to another'],
  ['api-designer', 'A filter of a list'],
  ['backend-engineer', 'A filter'],
  ['api-designer', 'An error code'],
  ['backend-engineer', 'An error code'],
  ['backend-engineer', 'A role'],
] as const;

interface Block {
  language: string;
  text: string;
}

async function blocksOf(page: string, heading: string): Promise<Block[]> {
  const guide = await readFile(join(root, `docs/guides/${page}.md`), 'utf8');
  const [, section] = guide.split(`\n### ${heading}\n`);
  if (section === undefined) throw new Error(`docs/guides/${page}.md has no section "${heading}".`);
  // A block of a list is indented.
  const blocks = section.split(/\n##+ /)[0]?.matchAll(/^( *)```(\w+)\n([^]*?)^ *```$/gm) ?? [];
  return [...blocks].map(([, indentation = '', language = '', text = '']) => ({
    language,
    text: text.replaceAll(new RegExp(`^${indentation}`, 'gm'), ''),
  }));
}

/** `<number>` is that of the migration with this name, or the next one. */
async function numbered(folder: string, file: string): Promise<string> {
  const name = /^(.*)\/<number>(-.*)$/.exec(file);
  if (!name) return file;
  const [, place = '', end = ''] = name;
  const files = await readdir(join(folder, place));
  const found = files.find((one) => one.endsWith(end));
  const last = Math.max(...files.map((one) => Number.parseInt(one, 10) || 0));
  return `${place}/${found ?? `${String(last + 1).padStart(4, '0')}${end}`}`;
}

async function apply(folder: string, { language, text }: Block): Promise<string[]> {
  if (language === 'sh') {
    for (const command of text.trim().split('\n')) {
      const env = { DATABASE_URL: command.includes(' payments ') ? await createTestDatabase() : undefined };
      const { status, output } = await run('sh', ['-c', command.replace(/\{\w+\}/g, "'$&'")], {
        cwd: folder,
        env,
      });
      if (status !== 0) throw new Error(`${command}\n${output}`);
    }
    return [];
  }
  const [, name = '', content = ''] = /^(?:\/\/|#) (\S+)\n([^]*)$/.exec(text) ?? [];
  if (name === '') throw new Error(`A block does not begin with the name of its file:\n${text}`);
  const file = await numbered(folder, name);
  const path = join(folder, file);
  const lines = content.replace(/\n$/, '').split('\n');
  const side = (other: string) =>
    lines.filter((line) => !line.startsWith(other)).map((line) => `${line.slice(1)}\n`);
  const made =
    language === 'diff'
      ? swap(side('+').join(''), side('-').join(''))(await readFile(path, 'utf8'))
      : content;
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, made);
  return [file];
}

/** The files that their authors write. */
export async function followRecipes(folder: string): Promise<string[]> {
  const files: string[] = [];
  for (const [page, heading] of recipes)
    for (const block of await blocksOf(page, heading))
      try {
        files.push(...(await apply(folder, block)));
      } catch (error) {
        throw new Error(`docs/guides/${page}.md, "${heading}"`, { cause: error });
      }
  await apply(folder, { language: 'sh', text: 'npm run generate' });
  return [...new Set(files)];
}

/** Runs tests there, on the PostgreSQL of these. */
export const testsThere = (folder: string, ...args: string[]) =>
  run('npm', ['test', '--', ...args], {
    cwd: folder,
    env: { TEST_DATABASE_URL: inject('serverUrl'), CI: 'true' },
  });
