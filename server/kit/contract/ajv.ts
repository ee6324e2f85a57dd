// Creates every Ajv instance of the service: JSON Schema 2020-12, full format checks, all violations reported.
import type { Format, ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import { fullFormats } from 'ajv-formats/dist/formats.js';
import { Ajv2020, type Options } from 'ajv/dist/2020.js';
import { uuidPattern } from '../rules/values.ts';
import type { Document } from './load.ts';

const id = 'contract';

// Keys of an OpenAPI document that are not JSON Schema keywords; Ajv's strict mode would reject them as unknown.
const openapiKeywords = [
  ...['openapi', 'info', 'servers', 'security', 'tags', 'paths', 'webhooks', 'components'],
  ...['example', 'discriminator', 'xml', 'externalDocs'],
];

export function createAjv(document: Document, options: Options = {}): Ajv2020 {
  const ajv = new Ajv2020({
    allErrors: true,
    // OpenAPI 3.1 writes nullable as `[string, 'null']`.
    allowUnionTypes: true,
    strictRequired: false,
    // Redocly has linted the contract; to compile the schema of schemas would take longer than all of ours together.
    validateSchema: false,
    // Ajv's optimizer takes a third of the compile time, and the validators are as fast without it: V8 optimizes them anyway.
    code: { optimize: false },
    ...options,
  });
  // The fast mode accepts month 19.
  addFormats.default(ajv, { mode: 'full' });
  for (const [name, format] of Object.entries<Format>(formats)) ajv.addFormat(name, format);
  ajv.addVocabulary(openapiKeywords);
  ajv.addSchema({ ...document, $id: id }, id, false);
  return ajv;
}

/** A schema that references a location in the contract. `pointer` is a JSON pointer without the leading #. */
export const pointTo = (pointer: string) => ({
  $ref: `${id}#${pointer.split('/').map(encodeURIComponent).join('/')}`,
});

/** The validator of a schema in the contract. Compiled once and cached, unlike with `ajv.compile`. */
export function compileAt(ajv: Ajv2020, pointer: string): ValidateFunction {
  const validate = ajv.getSchema(pointTo(pointer).$ref);
  if (!validate) throw new Error(`the contract has no schema at ${pointer}`);
  return validate;
}

// Stricter versions of two formats. ajv-formats accepts more than the standards and the database: `urn:uuid:…` as a UUID
// (RFC 9562); the offset `+01`, a tab between date and time, and second 60 in a date-time (RFC 3339).

const dateTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/i;
const { validate: isDateTime } = fullFormats['date-time'] as { validate: (text: string) => boolean };

export const formats = {
  uuid: uuidPattern,
  // The library is needed for the length of months: Date reads 30 February as 2 March.
  'date-time': (text: string) => dateTime.test(text) && isDateTime(text) && !Number.isNaN(Date.parse(text)),
};

/** Every format by name, for validators that were compiled without an Ajv. */
export const allFormats = { ...fullFormats, ...formats };
