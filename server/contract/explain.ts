// Lists all violations of a refused request. express-openapi-validator decides whether a request is valid, but it stops at the
// first unknown parameter and does not tell which branch of a oneOf failed, so its errors are not shown to callers.
import type { ValidateFunction } from 'ajv';
import type { OperationId } from '../../generated/operations.ts';
import type { Detail } from '../errors.ts';
import { compileAt, createAjv } from './ajv.ts';
import { dropUnknown } from './bound-faults.ts';
import { formats } from './formats.ts';
import { operationsOf, resolve, type Document } from './load.ts';
import type { PathValues } from './path.ts';
import { badEncoding, type Query } from './query.ts';
import { headersOf, isInteger, objectOf, parametersIn } from './parameters.ts';
import { createTranslator } from './violations.ts';

interface Shape {
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
  query: Query;
  body: unknown;
  path: PathValues;
  /** With names in lower case, as Node has them. */
  headers: Readonly<Record<string, unknown>>;
}

export interface Explainer {
  /** Whether the query has a fault that express-openapi-validator misses: unknown names in brackets, hexadecimal numbers. */
  hasMissedFault: (id: OperationId, query: Query) => boolean;
  /** Without what only adds to the list of faults; see bound-faults.ts. */
  boundQuery: (id: OperationId, query: Query) => Query;
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
  for (const { operation, pointer } of operationsOf(document)) {
    const parameters = parametersIn('query', document, operation);
    const typed = (type: string) =>
      new Set(
        parameters.filter(({ schema }) => resolve(document, schema).type === type).map(({ name }) => name),
      );
    shapes.set(operation.operationId as OperationId, {
      path: once(() => validators().inQuery.compile(objectOf(parametersIn('path', document, operation)))),
      query: once(() => validators().inQuery.compile(objectOf(parameters))),
      headers: once(() =>
        validators().inQuery.compile({
          ...objectOf(headersOf(document, operation)),
          additionalProperties: true,
        }),
      ),
      body:
        operation.requestBody &&
        once(() => compileAt(validators().inBody, `${pointer}/requestBody/content/application~1json/schema`)),
      arrays: new Map(
        parameters.flatMap(({ name, schema }) => {
          const { type, maxItems } = resolve(document, schema);
          return type === 'array' ? [[name, Number(maxItems)] as const] : [];
        }),
      ),
      integers: typed('integer'),
      names: new Set(parameters.map(({ name }) => name)),
    });
  }
  const shapeOf = (id: OperationId): Shape => {
    const shape = shapes.get(id);
    if (!shape) throw new Error(`${id} is not in the contract`);
    return shape;
  };

  return {
    hasMissedFault(id, query) {
      const { integers, names } = shapeOf(id);
      return Object.entries(query).some(
        ([name, value]) => !names.has(name) || (integers.has(name) && !isInteger(value)),
      );
    },
    boundQuery(id, query) {
      const { arrays, names } = shapeOf(id);
      dropUnknown(query, names);
      for (const [name, most] of arrays) {
        const values = query[name];
        if (Array.isArray(values) && values.length > most) values.length = most + 1;
      }
      return query;
    },
    explain(id, { query, body, path, headers }) {
      const shape = shapeOf(id);
      const { translateBody, translateQuery } = validators();
      const [inPath, inQuery, inBody] = [shape.path(), shape.query(), shape.body?.()];
      const details: Detail[] = Object.keys(path)
        .filter((name) => path[name] === undefined)
        .map((name) => ({ location: 'path', pointer: `/${name}`, ...badEncoding }));
      if (details.length === 0 && !inPath({ ...path }))
        details.push(...translateQuery(inPath.errors ?? [], 'path'));
      if (!inQuery(readQuery(shape, query)))
        details.push(
          ...translateQuery(inQuery.errors ?? [], 'query')
            .map(explainRepeated(shape, query))
            .map(explainPlus(query)),
        );
      const inHeaders = shape.headers();
      if (!inHeaders({ ...headers })) details.push(...translateQuery(inHeaders.errors ?? [], 'header'));
      if (!inBody) return details;
      if (body === undefined)
        return [
          ...details,
          { location: 'body', pointer: '', message: 'is required', type: 'value_error.missing' },
        ];
      // The body is not copied: copying a deeply nested one overflows the stack.
      if (!inBody(body)) details.push(...translateBody(inBody.errors ?? [], 'body'));
      return details;
    },
  };
}

const once = <T>(make: () => T): (() => T) => {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
};

function readQuery({ arrays, integers }: Shape, query: Query): Record<string, unknown> {
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
