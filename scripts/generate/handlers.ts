// Keeps server/handlers/ in sync with the contract: writes the index and a stub for each operation without a handler, and
// reports files that belong to no operation. Existing handlers are never overwritten.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { operationsOf, type Contract } from './contract.ts';
import { formatted } from './format.ts';

export const kebab = (id: string) => id.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

export const ids = (contract: Contract) =>
  operationsOf(contract).map(({ operation }) => operation.operationId);

/** The folder, the ending of the names in it, and the files there that belong to no operation. */
interface Place {
  folder: string;
  ending: string;
  others?: string[];
}

export const handlers: Place = { folder: 'server/handlers', ending: '.ts', others: ['index.ts', 'deps.ts'] };
export const tests: Place = { folder: 'test/service/operations', ending: '.test.ts' };

const existing = (project: string, { folder }: Place) =>
  readdir(join(project, folder)).catch((): string[] => []);

export const fileOf = ({ folder, ending }: Place, id: string) => `${folder}/${kebab(id)}${ending}`;

/** A file for each operation that has none at this place. */
export async function missingFiles(
  contract: Contract,
  project: string,
  place: Place,
  write: (operation: ReturnType<typeof operationsOf>[number]) => string,
): Promise<[string, string][]> {
  const files = (await existing(project, place)).map((file) => `${place.folder}/${file}`);
  const missing = operationsOf(contract).filter(
    ({ operation }) => !files.includes(fileOf(place, operation.operationId)),
  );
  return Promise.all(
    missing.map(async (one): Promise<[string, string]> => [
      fileOf(place, one.operation.operationId),
      await formatted(write(one)),
    ]),
  );
}

/** The files at these places that name no operation of the contract. */
export async function orphans(contract: Contract, project: string, places: Place[]): Promise<string[]> {
  const found = places.map(async (place) => {
    const expected = [...ids(contract).map((id) => kebab(id) + place.ending), ...(place.others ?? [])];
    const files = await existing(project, place);
    return files
      .filter((file) => file.endsWith(place.ending) && !expected.includes(file))
      .map((file) => `${place.folder}/${file}`);
  });
  return (await Promise.all(found)).flat();
}

export function handlersIndex(contract: Contract): string {
  const sorted = ids(contract).sort();
  // As the lint sorts them: by file.
  const imports = [
    ['./deps.ts', 'type { WriteDeps }'] as const,
    ...sorted.map((id) => [`./${kebab(id)}.ts`, `{ ${id} }`] as const),
  ].sort(([one], [other]) => (one < other ? -1 : 1));
  return `// Written by \`npm run generate\`: every operation of the contract and its handler. Do not edit.
import type { Handlers } from '../kit/contract/handler-types.ts';
${imports.map(([file, what]) => `import ${what} from '${file}';`).join('\n')}

export const handlers: Handlers<WriteDeps> = {
${sorted.map((id) => `  ${id},`).join('\n')}
};
`;
}

export const stub = (id: string) => `import type { Handler, Result } from '../kit/contract/handler-types.ts';
import type { Deps } from './deps.ts';

// A stub: responds with the contract's example and the header X-Contract-Example until you implement it.
export const ${id}: Handler<'${id}', Deps> = (_input, deps): Promise<Result<'${id}'>> =>
  Promise.resolve(deps.example('${id}'));
`;
