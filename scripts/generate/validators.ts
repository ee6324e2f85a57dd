// Compiles the validators of everything that the service sends, so that no start has to, and proves that express-openapi-validator
// accepts every operation. It is done with the service's own code, because the validators must validate like those of any other contract.
import { _ } from 'ajv';
import standaloneCode from 'ajv/dist/standalone/index.js';
import { build } from 'esbuild';
import { compileAt, createAjv, pointTo } from '../../server/kit/contract/ajv.ts';
import type { Document } from '../../server/kit/contract/load.ts';
import { responseSchemas } from '../../server/kit/contract/responses.ts';
import { createValidator } from '../../server/kit/contract/validator.ts';
import { root } from '../support/root.ts';
import { withoutDescriptions } from './prose.ts';

/** The code of generated/validators.js, without its first lines. `text` is the bundle as it is written to generated/openapi.json. */
export async function compileValidators(text: string): Promise<string> {
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
  return outputFiles.map((file) => file.text).join('');
}
