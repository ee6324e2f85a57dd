// One way to make an Ajv for this contract: JSON Schema 2020-12, full formats, every violation at once.
import type { ValidateFunction } from 'ajv';
import { Ajv2020, type Options } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { formats } from './formats.ts';
import type { Document } from './load.ts';

const id = 'contract';

// Words of an OpenAPI document that are no keywords of JSON Schema; without them strict mode takes them for mistakes.
const openapiWords = [
  ...['openapi', 'info', 'servers', 'security', 'tags', 'paths', 'webhooks', 'components'],
  ...['example', 'discriminator', 'xml', 'externalDocs'],
];

export function createAjv(document: Document, options: Options = {}): Ajv2020 {
  const ajv = new Ajv2020({
    allErrors: true,
    // `[string, 'null']` is how 3.1 says nullable.
    allowUnionTypes: true,
    strictRequired: false,
    ...options,
  });
  // The fast mode of formats accepts month 19.
  addFormats.default(ajv, { mode: 'full' });
  for (const [name, format] of Object.entries(formats)) ajv.addFormat(name, format);
  ajv.addVocabulary(openapiWords);
  ajv.addSchema({ ...document, $id: id }, id, false);
  return ajv;
}

/** A schema that refers to a place in the contract. `pointer` is a JSON pointer without the leading #. */
export const pointTo = (pointer: string) => ({
  $ref: `${id}#${pointer.split('/').map(encodeURIComponent).join('/')}`,
});

/** The validator of a place in the contract. Asked twice it is compiled once, which `ajv.compile` would not do. */
export function compileAt(ajv: Ajv2020, pointer: string): ValidateFunction {
  const validate = ajv.getSchema(pointTo(pointer).$ref);
  if (!validate) throw new Error(`there is no schema at ${pointer}`);
  return validate;
}
