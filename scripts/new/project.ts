// What the contract has already, read from its files.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { exists } from './plan.ts';

export interface Schema {
  $ref?: string;
  type?: string | string[];
  const?: string;
  format?: string;
  enum?: unknown[];
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
}

export type Project = ReturnType<typeof projectAt>;

export const projectAt = (root: string) => ({
  root,
  has: (file: string) => exists(join(root, file)),
  read: async (file: string) => parse(await readFile(join(root, file), 'utf8')) as unknown,
});

export const component = (kind: string, name: string) => `openapi/components/${kind}/${name}.yaml`;

export const readSchema = async (project: Project, name: string): Promise<Schema> =>
  (await project.read(component('schemas', name))) as Schema;

export const isNullable = ({ type = [], anyOf = [] }: Schema): boolean =>
  [type].flat().includes('null') || anyOf.some(isNullable);

/** What a property may be besides null, and in which schema that is written. */
export async function resolved(project: Project, property: Schema): Promise<Schema> {
  const { $ref, anyOf = [] } = property;
  if ($ref !== undefined)
    return resolved(project, await readSchema(project, $ref.replace(/^.*\/|\.yaml$/g, '')));
  const other = anyOf.find((one) => one.type !== 'null');
  return other ? resolved(project, other) : property;
}

export const tagsOf = async (project: Project): Promise<string[]> => {
  const { tags } = (await project.read('openapi/openapi.yaml')) as { tags: { name: string }[] | null };
  return (tags ?? []).map(({ name }) => name);
};

export async function operationsIn(
  project: Project,
): Promise<{ file: string; method: string; operationId: string }[]> {
  const files = (await readdir(join(project.root, 'openapi/paths'))).sort();
  const items = await Promise.all(
    files.map(async (name) => {
      const file = `openapi/paths/${name}`;
      const item = (await project.read(file)) as Record<string, { operationId: string }>;
      return Object.entries(item).map(([method, { operationId }]) => ({ file, method, operationId }));
    }),
  );
  return items.flat();
}
