// The records that the examples of the contract show.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { blockAt } from './contract-text.ts';
import { readSchema, type Project, type Schema } from './project.ts';

const folder = 'openapi/components/examples';

interface Shown {
  file: string;
  text: string;
  /** From the root of the file; `value` alone if the example shows nothing else. */
  path: string[];
}

function* pathsIn(value: unknown, path: string[]): Generator<[string[], Record<string, unknown>]> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield [path, value as Record<string, unknown>];
  for (const [key, part] of Object.entries(value)) yield* pathsIn(part, [...path, key]);
}

/** Two schemas may share a `type`: that of a buyer, and that of the buyer in a transaction. */
const fits = (record: Record<string, unknown>, { properties = {}, required = [] }: Schema) =>
  record['type'] !== undefined &&
  record['type'] === properties['type']?.const &&
  required.every((name) => name in record) &&
  Object.keys(record).every((name) => name in properties);

/** Every place that shows a record of this schema. */
export async function shownRecords(project: Project, schemaName: string): Promise<Shown[]> {
  const schema = await readSchema(project, schemaName);
  const found: Shown[] = [];
  for (const name of (await readdir(join(project.root, folder))).sort()) {
    const file = `${folder}/${name}`;
    const text = await readFile(join(project.root, file), 'utf8');
    const { value } = parse(text) as { value?: unknown };
    for (const [path, record] of pathsIn(value, ['value']))
      if (fits(record, schema)) found.push({ file, text, path });
  }
  return found;
}

/** A record to show, and the name of the example that shows it alone, if there is one. */
export async function exampleOf(
  project: Project,
  schemaName: string,
): Promise<{ record: string; name: string | undefined } | undefined> {
  const shown = await shownRecords(project, schemaName);
  const alone = shown.find(({ path }) => path.length === 1);
  const chosen = alone ?? shown[0];
  if (!chosen) return undefined;
  const name = alone?.file.slice(`${folder}/`.length, -'.yaml'.length);
  return { record: blockAt(chosen.text, chosen.path), name };
}
