// The one parser of paths and queries of the service. Express's query parser stops after 1,000 parameters and at `#`, so a filter
// could be lost; and the validator and its explanations must see the same values. URLSearchParams reads what is not UTF-8 as
// U+FFFD, so two different values could become the same.
import type { Detail } from '../errors.ts';
import { resolve, type ContractOperation, type Document, type Parameter } from './load.ts';
import { dropUnknown, mostFaults } from './violations.ts';

export type Query = Record<string, string | string[]>;

interface ParsedQuery {
  values: Query;
  /** Parameters whose percent-encoding is invalid; they are not in `values`. */
  faults: Detail[];
}

export function parseQuery(url: string): ParsedQuery {
  const [, text = ''] = url.split(/\?(.*)/s, 2);
  // Without a prototype, because parameters may be named `__proto__` or `constructor`.
  const values = Object.create(null) as Query;
  const malformed = new Set<string>();
  for (const part of text.split('&')) {
    if (part === '') continue;
    const [rawName = '', rawValue = ''] = part.split(/=(.*)/s, 2);
    const name = decode(rawName.replaceAll('+', ' '));
    const value = decode(rawValue.replaceAll('+', ' '));
    if (name === undefined || value === undefined) {
      if (malformed.size < mostFaults) malformed.add(name ?? rawName);
      continue;
    }
    const earlier = values[name];
    if (earlier === undefined) values[name] = value;
    else if (Array.isArray(earlier)) earlier.push(value);
    else values[name] = [earlier, value];
  }
  return { values, faults: [...malformed].map((name) => badEncoding('query', name)) };
}

export interface QueryParameters {
  names: ReadonlySet<string>;
  integers: ReadonlySet<string>;
  /** With the number of items that they may have. */
  arrays: ReadonlyMap<string, number>;
}

export function queryParametersOf(document: Document, operation: ContractOperation): QueryParameters {
  const schemas = parametersOf(document, operation, 'query').map(
    ({ name, schema }) => [name, resolve(document, schema)] as const,
  );
  const typed = (type: string) => schemas.filter(([, schema]) => schema.type === type);
  return {
    names: new Set(schemas.map(([name]) => name)),
    integers: new Set(typed('integer').map(([name]) => name)),
    arrays: new Map(typed('array').map(([name, { maxItems }]) => [name, Number(maxItems)])),
  };
}

export const parametersOf = (
  document: Document,
  { parameters = [] }: ContractOperation,
  place: Parameter['in'],
): Parameter[] =>
  parameters
    .map((parameter) => resolve<Parameter>(document, parameter))
    .filter((parameter) => parameter.in === place);

/** The query of a request, without what only adds to the list of faults (see `boundFaults`). */
export function readQuery({ names, arrays }: QueryParameters, url: string): ParsedQuery {
  const query = parseQuery(url);
  dropUnknown(query.values, names);
  for (const [name, most] of arrays) {
    const values = query.values[name];
    if (Array.isArray(values) && values.length > most) values.length = most + 1;
  }
  return query;
}

/** Whether the query has a fault that express-openapi-validator misses: unknown names in brackets, hexadecimal numbers. */
export const hasMissedFault = (
  { names, integers }: QueryParameters,
  { values, faults }: ParsedQuery,
): boolean =>
  faults.length > 0 ||
  Object.entries(values).some(
    ([name, value]) => !names.has(name) || (integers.has(name) && !isInteger(value)),
  );

// Ajv's coercion accepts 0x10 and 1e3 as integers, and turns 400 digits into Infinity, which passes any maximum.
export const isInteger = (value: string | string[]): boolean =>
  typeof value === 'string' && /^-?\d+$/.test(value) && Number.isFinite(Number(value));

/** The path parameters by name; undefined where the percent-encoding is invalid. */
export function parsePath(template: string, url: string): Record<string, string | undefined> {
  const [path = ''] = url.split('?', 1);
  const segments = path.split('/');
  const parameters = template.split('/').flatMap((part, index) => {
    const name = /^\{(.+)\}$/.exec(part)?.[1];
    return name === undefined ? [] : [[name, decode(segments[index] ?? '')] as const];
  });
  return Object.fromEntries(parameters);
}

export const badEncoding = (location: 'path' | 'query', name: string): Detail => ({
  location,
  pointer: `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`,
  message: 'is not valid percent-encoding of UTF-8',
  type: 'value_error.url_encoding',
});

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
