// The parameters of an operation as JSON Schemas: what the acceptance and the explainer of requests compile.
import { pointTo } from './ajv.ts';
import { resolve, type ContractOperation, type Document, type Parameter, type Schema } from './load.ts';

export const parametersIn = (
  place: Parameter['in'],
  document: Document,
  operation: ContractOperation,
): Parameter[] =>
  (operation.parameters ?? [])
    .map((parameter) => resolve<Parameter>(document, parameter))
    .filter((parameter) => parameter.in === place);

/** Header names have no case; Node makes them lower case, and error pointers are so too. */
export const headersOf = (document: Document, operation: ContractOperation): Parameter[] =>
  parametersIn('header', document, operation).map((header) => ({
    ...header,
    name: header.name.toLowerCase(),
  }));

export const objectOf = (parameters: Parameter[]): Schema => ({
  type: 'object',
  additionalProperties: false,
  required: parameters.filter((parameter) => parameter.required).map(({ name }) => name),
  properties: absolute(Object.fromEntries(parameters.map(({ name, schema }) => [name, schema]))),
});

// These schemas are compiled outside of the document, so their references must be absolute.
const absolute = (value: unknown): Schema =>
  JSON.parse(JSON.stringify(value), (key, item: unknown) =>
    key === '$ref' && typeof item === 'string' ? pointTo(item.slice(1)).$ref : item,
  ) as Schema;

// Ajv's coercion accepts 0x10 and 1e3 as integers, and turns 400 digits into Infinity, which passes any maximum.
export const isInteger = (value: string | string[]): boolean =>
  typeof value === 'string' && /^-?\d+$/.test(value) && Number.isFinite(Number(value));
