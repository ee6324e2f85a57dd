// Compiles the validators of everything that the service sends, so that no start has to, and proves that express-openapi-validator
// accepts every operation. It is done with the service's own code, because the validators must judge like those of any other contract.
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { _ } from 'ajv';
import standaloneCode from 'ajv/dist/standalone/index.js';
import { build } from 'esbuild';
import { compileAt, createAjv, pointTo } from '../../server/contract/ajv.ts';
import type { Document } from '../../server/contract/load.ts';
import { responseSchemas } from '../../server/contract/responses.ts';
import { root } from '../support/root.ts';

export const typesOfValidators = `// Written by \`npm run generate\`. Do not edit.
export interface ValidateFunction {
  (value: unknown): boolean;
  /** Of the last call. */
  errors?: { instancePath: string; keyword: string; message?: string; params?: object }[] | null;
}

/** SHA-256 of the openapi.json that the validators were compiled from. */
export const digest: string;
/** The formats by their names, as Ajv knows them. */
export function validators(formats: object): Record<string, ValidateFunction>;
`;

const digestOf = (text: string) => createHash('sha256').update(text).digest('hex');

/** Those of the last bundle, if only prose has changed since: then there is nothing to prove and to compile. */
export async function keptValidators(project: string, text: string): Promise<string | undefined> {
  const read = (file: string) => readFile(join(project, 'generated', file), 'utf8').catch(() => '');
  const [before, validators] = [await read('openapi.json'), await read('validators.js')];
  // Without any change, everything is made anew, because the generator may have changed.
  if (before === text || !validators.includes(digestOf(before))) return undefined;
  const isProse = withoutProse(before) === withoutProse(text);
  return isProse ? validators.replace(digestOf(before), digestOf(text)) : undefined;
}

/** An example may have a field `description`, which must match its schema. */
function withoutProse(text: string): string {
  const { examples } = (JSON.parse(text) as Document).components;
  return JSON.stringify([JSON.parse(text, withoutDescriptions), examples]);
}

/** `text` is the bundle as it is written to generated/openapi.json. */
export async function validatorsModule(text: string): Promise<string> {
  // Imported here because it loads express-openapi-validator, which other prose does not need.
  const { createValidator } = await import('../../server/contract/validator.ts');
  await createValidator(JSON.parse(text) as Document).callEveryOperation();
  const document = JSON.parse(text, withoutDescriptions) as Document;
  const ajv = createAjv(document, { code: { source: true, formats: _`formats` } });
  const keys = new Map<string, string>();
  const refs: Record<string, string> = {};
  for (const [key, pointer] of responseSchemas(document)) {
    compileAt(ajv, pointer);
    const name = `v${keys.size}`;
    keys.set(key, name);
    refs[name] = pointTo(pointer).$ref;
  }
  const source = standaloneCode.default(ajv, refs).replace('"use strict";', '');
  const entries = [...keys].map(([key, name]) => `${JSON.stringify(key)}: exports.${name}`);
  const contents = `
export function validators(formats) {
const exports = {};
${source}
return { ${entries.join(', ')} };
}`;
  // With the helpers of Ajv that the code requires. Minified it has a third of the size, and every start reads it.
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: root },
    bundle: true,
    minify: true,
    format: 'esm',
    write: false,
  });
  const code = outputFiles.map((file) => file.text).join('');
  // Not minified with the rest: the names that esbuild gives depend on every character.
  return `// Written by \`npm run generate\`. Do not edit.\nexport const digest = '${digestOf(text)}';\n${code}`;
}

// A property that is called "description" has a schema, which is no string.
const withoutDescriptions = (key: string, value: unknown): unknown =>
  key === 'description' && typeof value === 'string' ? undefined : value;
