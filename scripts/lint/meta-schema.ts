// The contract against the schema of OpenAPI itself, with which the service checks it too: Redocly misses some of it, such as a
// path parameter without `required: true`. Every file is checked as what its folder says that it is.
import { createRequire } from 'node:module';
import { posix } from 'node:path';
import type { ErrorObject } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { steps } from './did-you-mean.ts';
import type { Problem, Reported } from './problem.ts';
import { positionOf, type Sources } from './sources.ts';

const schema = createRequire(import.meta.url)(
  'express-openapi-validator/dist/framework/openapi.v3_1.modified.schema.json',
) as { $id: string };

/** The definition of what a folder has. Schemas are left to Redocly and house/valid-schema. */
const kinds: Partial<Record<string, string>> = {
  'openapi/paths': 'path-item',
  'openapi/webhooks': 'path-item',
  'openapi/components/parameters': 'parameter',
  'openapi/components/headers': 'header',
  'openapi/components/responses': 'response',
  'openapi/components/securitySchemes': 'security-scheme',
};

let compiled: Ajv2020 | undefined;
function ajv(): Ajv2020 {
  if (compiled) return compiled;
  compiled = new Ajv2020({ allErrors: true, strict: false, validateSchema: false, verbose: true });
  addFormats.default(compiled, ['email', 'regex', 'uri']);
  // References have braces here, and Redocly checks where they lead.
  return compiled.addFormat('media-range', true).addFormat('uri-reference', true).addSchema(schema);
}

export const metaSchemaFaults = (sources: Sources): Reported[] =>
  [...sources].flatMap(([file, { document }]) => {
    const kind = kinds[posix.dirname(file)];
    if (kind === undefined && file !== 'openapi/openapi.yaml') return [];
    const validate = ajv().getSchema(`${schema.$id}${kind === undefined ? '' : `#/$defs/${kind}`}`);
    if (!validate || validate(document.toJS())) return [];
    const faults = (validate.errors ?? []).filter(
      ({ keyword, data }) => !wrappers.includes(keyword) && !isReference(data),
    );
    // If something else is wrong, names that are right count as unknown too.
    const causes = faults.filter((fault) => !isUnknown(fault));
    return (causes.length > 0 ? causes : faults).map((fault) => {
      const pointer = `#${fault.instancePath}${propertyOf(fault)}`;
      const position = positionOf(sources, file, steps(pointer)) ??
        positionOf(sources, file, steps(`#${fault.instancePath}`)) ?? { line: 1, column: 1 };
      return { rule: 'openapi', file, ...position, pointer, message: adviceFor(fault), suggest: [] };
    });
  });

/** Such as that of the description, which Redocly replaces by the text. */
const isReference = (data: unknown) => typeof data === 'object' && data !== null && '$ref' in data;

/** They say only that something below or beside them is wrong. */
const wrappers = ['if', 'allOf', 'anyOf', 'oneOf', '$ref'];

const isUnknown = ({ keyword }: ErrorObject) => keyword === 'unevaluatedProperties';

/** Where the fault is, below the object: at the unknown name, or beside the place of a path parameter. */
function propertyOf({ keyword, params }: ErrorObject): string {
  const { unevaluatedProperty, missingProperty } = params as Partial<Record<string, string>>;
  if (keyword === 'required') return missingProperty === 'required' ? '/in' : '';
  return unevaluatedProperty === undefined ? '' : `/${unevaluatedProperty}`;
}

function adviceFor(fault: ErrorObject): string {
  const name = fault.instancePath.split('/').at(-1) ?? '';
  const { missingProperty, unevaluatedProperty, ...params } = fault.params as Partial<Record<string, string>>;
  if (name === 'required' || missingProperty === 'required')
    return 'A path parameter needs `required: true`.';
  if (missingProperty !== undefined) return `\`${missingProperty}\` is missing here. Add it.`;
  if (unevaluatedProperty !== undefined) return `\`${unevaluatedProperty}\` is not allowed here. Remove it.`;
  const allowed = [params.allowedValues ?? params.allowedValue ?? []].flat();
  if (allowed.length === 0) return `OpenAPI does not allow this value of \`${name}\`: it ${fault.message}.`;
  const list = allowed.join(', ').replace(/, ([^,]*)$/, ' or $1');
  return `\`${name}: ${String(fault.data)}\` is not allowed here. Write ${list}.`;
}

/** Redocly's words are better where it has found the same. */
export const notIn = (problems: Problem[]) => (fault: Problem) =>
  !problems.some(({ file, line }) => file === fault.file && line === fault.line);
