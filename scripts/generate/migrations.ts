// Writes server/migrations/index.ts, the list of the files in its folder, so that a migration is one file. They are
// imported and not read from disk at run time, so that a build cannot lose one.
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

const folder = 'server/migrations';
export const migrationsFile = `${folder}/index.ts`;

const camel = (name: string) =>
  name.replace(/^\d+-/, '').replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());

async function migrationNames(project: string): Promise<string[]> {
  const files = await readdir(join(project, folder)).catch((): string[] => []);
  return files
    .filter((file) => /^\d{4}-[a-z0-9-]+\.ts$/.test(file))
    .map((file) => file.slice(0, -'.ts'.length))
    .sort();
}

/** Whether a migration was added, edited or removed since the last `npm run generate`. */
export async function isListStale(project: string): Promise<boolean> {
  const list = await readFile(join(project, migrationsFile), 'utf8').catch(() => '');
  return list !== (await migrationsIndex(project));
}

export async function migrationsIndex(project: string): Promise<string> {
  const names = await migrationNames(project);
  const digestOf = async (name: string) => {
    const parts = await readdir(join(project, folder, name)).catch((): string[] => []);
    const hash = createHash('sha256');
    // Editors leave other files there.
    const code = parts.filter((part) => part.endsWith('.ts')).sort();
    for (const file of [`${name}.ts`, ...code.map((part) => join(name, part))])
      hash.update(await readFile(join(project, folder, file)));
    return hash.digest('hex').slice(0, 12);
  };
  const digests = await Promise.all(names.map(async (name) => `  '${name}': '${await digestOf(name)}',`));
  return `// Written by \`npm run generate\`: every migration, in order. Do not edit.
import type { Kysely } from 'kysely';
${names.map((name) => `import * as ${camel(name)} from './${name}.ts';`).join('\n')}

export const migrations: Record<string, { up: (db: Kysely<unknown>) => Promise<void> }> = {
${names.map((name) => `  '${name}': ${camel(name)},`).join('\n')}
};

/** Of their files, and of the files in a folder of that name. A database records them, and 1.0.0 and 1.1.0 refuse others than theirs. */
export const digests: Record<string, string> = {
${digests.join('\n')}
};
`;
}
