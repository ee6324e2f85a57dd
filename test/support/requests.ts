/** Generates valid requests from the contract's schemas. Supports the part of JSON Schema that the contract uses. */
import type { Request, Response } from 'express';
import fc from 'fast-check';
import { operations, type OperationId } from '../../generated/operations.ts';
import {
  loadContract,
  operationsOf,
  resolve,
  type Parameter,
  type Schema,
} from '../../server/kit/contract/load.ts';
import type { Validator } from '../../server/kit/contract/validator.ts';

export const { document } = loadContract();

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

export interface Sent {
  id: OperationId;
  query: [name: string, value: string][];
  /** Undefined where the operation has none. */
  body: Json | undefined;
}

export const schemaOf = (schema: unknown): Schema => resolve<Schema>(document, schema as Schema);

/** The schema without null. */
export function substance(schema: unknown): { schema: Schema; nullable: boolean } {
  const found = schemaOf(schema);
  if (Array.isArray(found.type)) {
    const [type = ''] = found.type.filter((one) => one !== 'null');
    return { schema: { ...found, type }, nullable: true };
  }
  const branches = (found.anyOf ?? []) as Schema[];
  const [branch] = branches.filter(({ type }) => type !== 'null');
  return branches.length === 2 && branch
    ? { schema: schemaOf(branch), nullable: true }
    : { schema: found, nullable: false };
}

/** Arbitraries take longer to make than values, and property tests ask for the same ones thousands of times. */
export function memoize<Key, Made>(make: (key: Key) => Made): (key: Key) => Made {
  const made = new Map<Key, Made>();
  return (key) => {
    if (!made.has(key)) made.set(key, make(key));
    return made.get(key) as Made;
  };
}

export const parametersOf = memoize((id: OperationId): Parameter[] =>
  (operation(id).parameters ?? [])
    .map((parameter) => resolve<Parameter>(document, parameter))
    .filter((parameter) => parameter.in === 'query'),
);

export const bodySchemaOf = (id: OperationId): Schema | undefined =>
  operation(id).requestBody?.content['application/json'].schema;

function operation(id: OperationId) {
  const found = operationsOf(document).find((entry) => entry.operation.operationId === id);
  if (!found) throw new Error(`${id} is not in the contract`);
  return found.operation;
}

export function valid(given: unknown): fc.Arbitrary<Json> {
  const { schema, nullable } = substance(given);
  const made = present(schema);
  return nullable ? fc.oneof({ weight: 4, arbitrary: made }, fc.constant<Json>(null)) : made;
}

function present(schema: Schema): fc.Arbitrary<Json> {
  if (Array.isArray(schema.oneOf)) return fc.oneof(...schema.oneOf.map(valid));
  if (Array.isArray(schema.enum)) return fc.constantFrom(...(schema.enum as Json[]));
  if ('const' in schema) return fc.constant(schema.const as Json);
  if (schema.type === 'string') return text(schema);
  if (schema.type === 'boolean') return fc.boolean();
  if (schema.type === 'integer')
    return fc.maxSafeInteger().map((n) => {
      const { minimum = 0, maximum = 0 } = schema as { minimum?: number; maximum?: number };
      return minimum + (Math.abs(n) % (maximum - minimum + 1));
    });
  if (schema.type === 'array')
    return fc.array(valid(schema.items), {
      minLength: Number(schema.minItems ?? 0),
      maxLength: Math.min(Number(schema.maxItems ?? 3), 3),
    });
  if (schema.type === 'object') return object(schema);
  throw new Error(`The tests know no values for ${JSON.stringify(schema)}. Teach them.`);
}

export interface TextSchema extends Schema {
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  format?: string;
}

function text(schema: Schema): fc.Arbitrary<string> {
  const { minLength = 0, maxLength = 40, pattern: source = '' } = schema as TextSchema;
  const pattern = new RegExp(source, 'u');
  const made = (() => {
    if (schema.format === 'uuid') return fc.uuid().chain((id) => fc.constantFrom(id, id.toUpperCase()));
    if (schema.format === 'date-time') return dateTime;
    if (schema.format === 'uri')
      return fc.webUrl({ withQueryParameters: true, validSchemes: ['http', 'https'] });
    if (source === '' || source.startsWith('^[^'))
      // Any Unicode character. An emoji counts as one, as in JSON Schema.
      return fc
        .string({ unit: 'binary', minLength, maxLength: Math.min(maxLength, 40) })
        .map((value) =>
          Array.from(value, (character) => (pattern.test(character) ? character : 'x')).join(''),
        );
    return fc.stringMatching(pattern);
  })();
  return made.filter((value) => {
    const { length } = Array.from(value);
    return pattern.test(value) && length >= minLength && length <= maxLength;
  });
}

const dateTime = fc
  .tuple(
    fc.date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true }),
    fc.constantFrom('Z', 'z', '+00:00', '-08:00', '+05:45'),
  )
  .map(([date, zone]) => date.toISOString().replace('Z', zone));

function object(schema: Schema): fc.Arbitrary<Json> {
  const properties = (schema.properties ?? {}) as Record<string, unknown>;
  const exclusive = ((schema.not as Schema | undefined)?.required ?? []) as string[];
  const { minProperties = 0 } = schema as { minProperties?: number };
  const parts = Object.fromEntries(Object.entries(properties).map(([name, part]) => [name, valid(part)]));
  return fc
    .tuple(
      fc.record(parts, { requiredKeys: (schema.required ?? []) as string[], noNullPrototype: true }),
      fc.nat({ max: Math.max(exclusive.length - 1, 0) }),
    )
    .map(([value, kept]) => {
      const dropped = exclusive.filter((_, index) => index !== kept);
      return Object.fromEntries(Object.entries(value).filter(([name]) => !dropped.includes(name)));
    })
    .filter((value) => Object.keys(value).length >= minProperties);
}

const query = (id: OperationId): fc.Arbitrary<Sent['query']> => {
  const values = parametersOf(id).map(({ name, schema }) =>
    present(substance(schema).schema).map((value) =>
      [value]
        .flat()
        .map((one): [string, string] => [name, typeof one === 'string' ? one : JSON.stringify(one)]),
    ),
  );
  return fc
    .subarray(values, { maxLength: Math.min(4, values.length) })
    .chain((chosen) => fc.tuple(...chosen))
    .map((pairs) => pairs.flat());
};

export const request = memoize((id: OperationId): fc.Arbitrary<Sent> => {
  const schema = bodySchemaOf(id);
  return fc.record({
    id: fc.constant(id),
    query: query(id),
    body: schema ? valid(schema) : fc.constant(undefined),
  });
});

/** Validates a request without a server. Returns it as the handler would see it, or throws what the caller is told. */
export async function validate(validator: Validator, id: OperationId, url: string, body: unknown) {
  const { method } = operations[id];
  const req = {
    method: method.toUpperCase(),
    url,
    originalUrl: url,
    path: url.split('?', 1)[0],
    baseUrl: '',
    headers: bodySchemaOf(id) ? { 'content-type': 'application/json' } : {},
    params: {},
    app: { enabled: () => true, param: () => undefined },
    body,
  };
  await validator.validate(id, req as unknown as Request, {} as Response);
  return req as typeof req & { query: Record<string, unknown> };
}
