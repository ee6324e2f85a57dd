// Writes server/store/migrations/index.ts, the list of the files in its folder, so that a migration is one file. They are
// imported and not read from disk at run time, so that a build cannot lose one.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { root } from '../support/root.ts';

export const migrationsFile = 'server/store/migrations/index.ts';

const camel = (name: string) =>
  name.replace(/^\d+-/, '').replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());

export async function migrationsIndex(): Promise<string> {
  const files = await readdir(join(root, migrationsFile, '..')).catch((): string[] => []);
  const names = files
    .filter((file) => /^\d{4}-[a-z0-9-]+\.ts$/.test(file))
    .map((file) => file.slice(0, -'.ts'.length))
    .sort();
  return `// Written by \`npm run generate\`: every migration, in order. Do not edit.
import type { ServiceMigration } from '../online.ts';
${names.map((name) => `import * as ${camel(name)} from './${name}.ts';`).join('\n')}

export const migrations: Record<string, ServiceMigration> = {
${names.map((name) => `  '${name}': ${camel(name)},`).join('\n')}
};
`;
}
