// Lists all violations of a refused request. express-openapi-validator decides whether a request is valid, but it stops at the
// first unknown parameter and does not tell which branch of a oneOf failed, so its errors are not shown to callers.
import type { ValidateFunction } from 'ajv';
import type { OperationId } from '../../generated/operations.ts';
import type { Detail } from '../errors.ts';
import { compileAt, createAjv, pointTo, formats } from './ajv.ts';
import { dropUnknown, mostFaults } from './bound-faults.ts';
import {
  operationsOf,
  resolve,
  type ContractOperation,
  type Document,
  type Parameter,
  type Schema,
} from './load.ts';
import { badEncoding, parsePath, parseQuery, type ParsedQuery, type Query } from './url.ts';
import { createTranslator } from './violations.ts';

interface Shape {
  /** The path of the operation, such as `/transactions/{transaction_id}`. */
  template: string;
  path: () => ValidateFunction;
  query: () => ValidateFunction;
  headers: () => ValidateFunction;
  body: (() => ValidateFunction) | undefined;
  /** The names of array parameters, with the number of items that they may have. */
  arrays: ReadonlyMap<string, number>;
  integers: ReadonlySet<string>;
  names: ReadonlySet<string>;
}

interface Sent {
  url: string;
  /** With names in lower case, as Node has them. */
  headers: Readonly<Record<string, unknown>>;
  body?: unknown;
}

export interface Explainer {
  /** The query of a request, without what only adds to the list of faults (see bound-faults.ts). */
  readQuery: (id: OperationId, url: string) => ParsedQuery;
  /** Whether the query has a fault that express-openapi-validator misses: unknown names in brackets, hexadecimal numbers. */
  hasMissedFault: (id: OperationId, query: ParsedQuery) => boolean;
  /** Empty if there is nothing wrong with the request. */
  explain: (id: OperationId, sent: Sent) => Detail[];
}

export function createExplainer(document: Document): Explainer {
  // Made at the first refusal: a service that has not refused anything yet starts faster without them.
  const validators = once(() => {
    const inBody = createAjv(document, { verbose: true });
    const inQuery = createAjv(document, { verbose: true, coerceTypes: true });
    const translators = {
      translateBody: createTranslator(inBody),
      translateQuery: createTranslator(inQuery),
    };
    return { inBody, inQuery, ...translators };
  });
  const shapes = new Map<OperationId, Shape>();
  for (const { operation, path, pointer } of operationsOf(document)) {
    const parametersIn = (place: Parameter['in']) => parametersOf(document, operation, place);
    const schemas = parametersIn('query').map(
      ({ name, schema }) => [name, resolve(document, schema)] as const,
    );
    const typed = (type: string) => schemas.filter(([, schema]) => schema.type === type);
    // Header names have no case; Node makes them lower case, and error pointers are so too.
    const headers = parametersIn('header').map((one) => ({ ...one, name: one.name.toLowerCase() }));
    shapes.set(operation.operationId as OperationId, {
      template: path,
      path: once(() => validators().inQuery.compile(objectOf(parametersIn('path')))),
      query: once(() => validators().inQuery.compile(objectOf(parametersIn('query')))),
      headers: once(() => validators().inQuery.compile({ ...objectOf(headers), additionalProperties: true })),
      body:
        operation.requestBody &&
        once(() => compileAt(validators().inBody, `${pointer}/requestBody/content/application~1json/schema`)),
      arrays: new Map(typed('array').map(([name, { maxItems }]) => [name, Number(maxItems)])),
      integers: new Set(typed('integer').map(([name]) => name)),
      names: new Set(schemas.map(([name]) => name)),
    });
  }
  const shapeOf = (id: OperationId): Shape => {
    const shape = shapes.get(id);
    if (!shape) throw new Error(`${id} is not in the contract`);
    return shape;
  };
  const readQuery: Explainer['readQuery'] = (id, url) => {
    const { arrays, names } = shapeOf(id);
    const query = parseQuery(url);
    dropUnknown(query.values, names);
    for (const [name, most] of arrays) {
      const values = query.values[name];
      if (Array.isArray(values) && values.length > most) values.length = most + 1;
    }
    return query;
  };

  return {
    readQuery,
    hasMissedFault(id, { values, faults }) {
      const { integers, names } = shapeOf(id);
      const isMissed = ([name, value]: [string, Query[string]]) =>
        !names.has(name) || (integers.has(name) && !isInteger(value));
      return faults.length > 0 || Object.entries(values).some(isMissed);
    },
    explain(id, { url, headers, body }) {
      const shape = shapeOf(id);
      const { translateBody, translateQuery } = validators();
      const path = parsePath(shape.template, url);
      const query = readQuery(id, url);
      const [inPath, inQuery, inHeaders] = [shape.path(), shape.query(), shape.headers()];
      const inBody = shape.body?.();
      const undecoded = Object.keys(path).filter((name) => path[name] === undefined);
      const details = [...query.faults, ...undecoded.map((name) => badEncoding('path', name))];
      if (undecoded.length === 0 && !inPath(path))
        details.push(...translateQuery(inPath.errors ?? [], 'path'));
      if (!inQuery(typeQuery(shape, query.values)))
        details.push(
          ...translateQuery(inQuery.errors ?? [], 'query')
            .map(explainRepeated(shape, query.values))
            .map(explainPlus(query.values)),
        );
      if (!inHeaders({ ...headers })) details.push(...translateQuery(inHeaders.errors ?? [], 'header'));
      if (inBody && body === undefined)
        details.push({
          location: 'body',
          pointer: '',
          message: 'is required',
          type: 'value_error.missing',
        });
      // The body is not copied: copying a deeply nested one overflows the stack.
      else if (inBody && !inBody(body)) details.push(...translateBody(inBody.errors ?? [], 'body'));
      return details.slice(0, mostFaults);
    },
  };
}

const once = <T>(make: () => T): (() => T) => {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
};

const parametersOf = (
  document: Document,
  { parameters = [] }: ContractOperation,
  place: Parameter['in'],
): Parameter[] =>
  parameters
    .map((parameter) => resolve<Parameter>(document, parameter))
    .filter((parameter) => parameter.in === place);

const objectOf = (parameters: Parameter[]): Schema => ({
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
const isInteger = (value: string | string[]): boolean =>
  typeof value === 'string' && /^-?\d+$/.test(value) && Number.isFinite(Number(value));

function typeQuery({ arrays, integers }: Shape, query: Query): Record<string, unknown> {
  const values = Object.create(null) as Record<string, unknown>;
  for (const [name, value] of Object.entries(query)) {
    if (arrays.has(name)) values[name] = [value].flat();
    else if (integers.has(name) && typeof value === 'string' && !isInteger(value))
      values[name] = /^-?\d+$/.test(value) ? Math.sign(Number(value)) * Number.MAX_VALUE : 'no integer';
    else values[name] = value;
  }
  return values;
}

// For a parameter that was sent twice, "must be a string" would not help the caller.
const explainRepeated =
  ({ arrays, names }: Shape, query: Query) =>
  (detail: Detail): Detail => {
    const name = detail.pointer.slice(1);
    return names.has(name) && !arrays.has(name) && Array.isArray(query[name])
      ? { ...detail, message: 'must be given only once', type: 'value_error.duplicate' }
      : detail;
  };

// A raw + in a query means a space, so `…T00:00:00+01:00` arrives as `…T00:00:00 01:00`.
const explainPlus =
  (query: Query) =>
  (detail: Detail): Detail => {
    const value = query[detail.pointer.slice(1)];
    return detail.type === 'value_error.datetime' &&
      typeof value === 'string' &&
      formats['date-time'](value.replace(' ', '+'))
      ? { ...detail, message: 'has a space before its time zone; in a URL write + as %2B' }
      : detail;
  };

/** The fallback for a request that the validator refuses and the explainer finds nothing wrong with. No such case is known. */
export const unexplained: Detail = {
  location: 'body',
  pointer: '',
  message: 'does not match the contract',
  type: 'value_error',
};
