// Keeps server/handlers/ in sync with the contract: writes the index and a stub for each operation without a handler, and
// reports files that belong to no operation. Existing handlers are never overwritten.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { operationsOf, type Contract } from './contract.ts';
import { formatted } from './format.ts';

const folder = 'server/handlers';
// The files in this folder that are not handlers.
const supportFiles = ['index.ts', 'deps.ts'];

export const kebab = (id: string) => id.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

export const ids = (contract: Contract) =>
  operationsOf(contract).map(({ operation }) => operation.operationId);

const existing = (project: string) => readdir(join(project, folder)).catch((): string[] => []);

export function handlersIndex(contract: Contract): string {
  const sorted = ids(contract).sort();
  // As the lint sorts them: by file.
  const imports = [
    ['./deps.ts', 'type { WriteDeps }'] as const,
    ...sorted.map((id) => [`./${kebab(id)}.ts`, `{ ${id} }`] as const),
  ].sort(([one], [other]) => (one < other ? -1 : 1));
  return `// Written by \`npm run generate\`: every operation of the contract and its handler. Do not edit.
import type { Handlers } from '../../generated/operations.ts';
${imports.map(([file, what]) => `import ${what} from '${file}';`).join('\n')}

export const handlers: Handlers<WriteDeps> = {
${sorted.map((id) => `  ${id},`).join('\n')}
};
`;
}

export async function stubs(contract: Contract, project: string): Promise<[string, string][]> {
  const files = await existing(project);
  return Promise.all(
    ids(contract)
      .filter((id) => !files.includes(`${kebab(id)}.ts`))
      .map(async (id): Promise<[string, string]> => [`${folder}/${kebab(id)}.ts`, await formatted(stub(id))]),
  );
}

const stub = (id: string) => `import type { Handler, Result } from '../../generated/operations.ts';
import type { Deps } from './deps.ts';

// A stub: responds with the contract's example and the header X-Contract-Example until you implement it.
export const ${id}: Handler<'${id}', Deps> = (_input, deps): Promise<Result<'${id}'>> =>
  Promise.resolve(deps.example('${id}'));
`;

export async function orphans(contract: Contract, project: string): Promise<string[]> {
  const expected = new Set([...ids(contract).map((id) => `${kebab(id)}.ts`), ...supportFiles]);
  const files = await existing(project);
  return files
    .filter((file) => file.endsWith('.ts') && !expected.has(file))
    .map((file) => `${folder}/${file}`);
}
