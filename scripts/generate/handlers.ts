// Keeps server/handlers/ in step with the contract: an index that the compiler checks, a stub for each operation that has
// no file, and the names of files that no operation wants. Files that exist are never written.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { root } from '../support/redocly.ts';
import { operationsOf, type Contract } from './contract.ts';

const folder = 'server/handlers';
// Files of the room that are no handlers.
const furniture = ['index.ts', 'deps.ts', 'page.ts'];

export const kebab = (id: string) => id.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

const ids = (contract: Contract) => operationsOf(contract).map(({ operation }) => operation.operationId);

const existing = () => readdir(join(root, folder)).catch((): string[] => []);

export function handlersIndex(contract: Contract): string {
  const sorted = ids(contract).sort();
  return `// Written by \`npm run generate\`: every operation of the contract and its handler. Do not edit.
import type { Handlers } from '../../generated/operations.ts';
import type { WriteDeps } from './deps.ts';
${sorted.map((id) => `import { ${id} } from './${kebab(id)}.ts';`).join('\n')}

export const handlers: Handlers<WriteDeps> = {
${sorted.map((id) => `  ${id},`).join('\n')}
};
`;
}

export async function stubs(contract: Contract): Promise<[string, string][]> {
  const files = await existing();
  return ids(contract)
    .filter((id) => !files.includes(`${kebab(id)}.ts`))
    .map((id) => [`${folder}/${kebab(id)}.ts`, stub(id)]);
}

const stub = (id: string) => `import type { Handler, Result } from '../../generated/operations.ts';
import type { Deps } from './deps.ts';

// A stub: it answers with the contract's own example, marked by the header X-Contract-Example, until it is filled in.
export const ${id}: Handler<'${id}', Deps> = (_input, deps): Promise<Result<'${id}'>> =>
  Promise.resolve(deps.example('${id}'));
`;

export async function orphans(contract: Contract): Promise<string[]> {
  const wanted = new Set([...ids(contract).map((id) => `${kebab(id)}.ts`), ...furniture]);
  const files = await existing();
  return files.filter((file) => file.endsWith('.ts') && !wanted.has(file)).map((file) => `${folder}/${file}`);
}
