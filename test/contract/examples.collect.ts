/** Every example of the bundled contract, with the schema that it belongs to. Knows nothing of Redocly. */
import formats from 'ajv-formats';
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import {
  asArray,
  asJson,
  childOf,
  Contract,
  isJson,
  type Json,
  type Place,
} from './specification/document.ts';

export interface Example {
  operation: string;
  /** `request`, the status of a response, `parameter` or `header`. */
  side: string;
  name: string;
  value: unknown;
  schema: string;
}

export const contract = Contract.read(process.env['CONTRACT_FILE'] ?? 'generated/openapi.json');

const children = (place: Place): [string, Place][] =>
  Object.keys(asJson(place.value)).map((key) => [key, childOf(place, key)]);

/** A request body or a response, with its operation or event. */
export interface Body {
  operation: string;
  side: string;
  media: Place;
}

function bodiesOf(operation: Place): Body[] {
  const id = String(asJson(operation.value)['operationId']);
  const holders: [string, Place][] = [
    ['request', contract.at(['requestBody'], operation)],
    ...children(contract.at(['responses'], operation)),
  ];
  return holders.flatMap(([side, holder]) =>
    children(contract.at(['content'], contract.follow(holder))).map(([, media]) => ({
      operation: id,
      side,
      media,
    })),
  );
}

const methods = ['get', 'post', 'put', 'patch', 'delete'];
const operations = ['paths', 'webhooks'].flatMap((part) =>
  children(contract.at([part])).flatMap(([, item]) =>
    children(contract.follow(item)).flatMap(([method, operation]) =>
      methods.includes(method) ? [operation] : [],
    ),
  ),
);

const bodies: Body[] = operations.flatMap(bodiesOf);

const named = (holder: Place): { name: string; value: unknown }[] => [
  ...children(contract.at(['examples'], holder)).map(([name, place]) => ({
    name,
    value: asJson(contract.follow(place).value)['value'],
  })),
  ...('example' in asJson(holder.value) ? [{ name: 'example', value: asJson(holder.value)['example'] }] : []),
];

export const examples: Example[] = bodies.flatMap(({ operation, side, media }) =>
  named(media).map((one) => ({ operation, side, ...one, schema: childOf(media, 'schema').pointer })),
);

/** The examples of parameters and headers, which have no operation. */
export const partExamples: Example[] = ['parameters', 'headers'].flatMap((part) =>
  children(contract.at(['components', part])).flatMap(([operation, place]) =>
    named(place).map((one) => ({ operation, side: part, ...one, schema: childOf(place, 'schema').pointer })),
  ),
);

const ajv = new Ajv2020({
  strict: true,
  strictTypes: true,
  strictTuples: true,
  // This option rejects `not: {required: […]}` by mistake.
  strictRequired: false,
  // `type: [string, 'null']` is how this contract says "or null".
  allowUnionTypes: true,
  allErrors: true,
});
formats.default(ajv, { mode: 'full' });
// The document is not a schema; it is added so that references can be resolved.
ajv.addVocabulary(Object.keys(contract.document));
ajv.addSchema(contract.document, 'contract');

export function faultsOf(value: unknown, schema: string): ErrorObject[] {
  const validate = ajv.compile({ $ref: `contract#${schema}` });
  return validate(value) ? [] : (validate.errors ?? []);
}

/** All objects in a value, including the value itself. */
export function objectsIn(value: unknown): Json[] {
  if (Array.isArray(value)) return value.flatMap(objectsIn);
  if (!isJson(value)) return [];
  return [value, ...Object.values(value).flatMap(objectsIn)];
}

export const values = examples.map(({ value }) => value);
export const objects = values.flatMap(objectsIn);
export const ofType = (type: string) => objects.filter((object) => object['type'] === type);
export const enumOf = (schema: string) =>
  asArray(asJson(contract.at(['components', 'schemas', schema]).value)['enum']);

export function example(operation: string, side: string, name: string): Json {
  return asJson(
    examples.find((one) => one.operation === operation && one.side === side && one.name === name)?.value,
  );
}
