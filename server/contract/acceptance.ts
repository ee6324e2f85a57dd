// Accepts valid requests at a fraction of the cost of express-openapi-validator, which walks over all parameters of the contract
// at every request. It never refuses: whatever it does not accept, the validator judges. Both accept the same and read the same
// values (test/contract/acceptance.test.ts).
import type { IncomingHttpHeaders } from 'node:http';
import type { ValidateFunction } from 'ajv';
import type { OperationId } from '../../generated/operations.ts';
import { compileAt, createAjv } from './ajv.ts';
import { operationsOf, resolve, type Document, type Parameter } from './load.ts';
import { headersOf, isInteger, objectOf, parametersIn } from './parameters.ts';
import type { Query } from './query.ts';

interface Sent {
  query: Query;
  headers: IncomingHttpHeaders;
  /** Gets the defaults of its schema. */
  body: unknown;
}

/** The query with numbers, booleans, lists and defaults; undefined if the validator must judge. */
export type Accept = (id: OperationId, sent: Sent) => Record<string, unknown> | undefined;

interface Shape {
  query: ValidateFunction;
  arrays: readonly string[];
  integers: readonly string[];
  headers: ValidateFunction;
  headerNames: readonly string[];
  body: ValidateFunction | undefined;
}

export interface Acceptance {
  accept: Accept;
  /** Compiles the schemas of one operation, which takes some milliseconds. Until then the validator judges it. */
  compile: (id: OperationId) => void;
}

/** `document` as the validator sees it. */
export function createAcceptance(document: Document): Acceptance {
  const options = { allErrors: false, useDefaults: true };
  const inBody = createAjv(document, options);
  const inParameters = createAjv(document, { ...options, coerceTypes: true });
  const operations = new Map(operationsOf(document).map((entry) => [entry.operation.operationId, entry]));
  const shapes = new Map<OperationId, Shape>();
  return {
    accept(id, { query, headers, body }) {
      const shape = shapes.get(id);
      if (!shape) return undefined;
      const values = readQuery(shape, query);
      if (!values || !shape.query(values)) return undefined;
      const given: Record<string, unknown> = {};
      for (const name of shape.headerNames) if (headers[name] !== undefined) given[name] = headers[name];
      if (!shape.headers(given)) return undefined;
      return shape.body && (body === undefined || !shape.body(body)) ? undefined : values;
    },
    compile(id) {
      const { operation, pointer } = operations.get(id) ?? {};
      if (!operation || parametersIn('path', document, operation).length > 0) return;
      const parameters = parametersIn('query', document, operation);
      const headers = headersOf(document, operation);
      if (!parameters.every((parameter) => isPlain(document, parameter))) return;
      const typed = (type: string) =>
        parameters.filter(({ schema }) => resolve(document, schema).type === type).map(({ name }) => name);
      const json = `${pointer ?? ''}/requestBody/content/application~1json/schema`;
      shapes.set(id, {
        query: inParameters.compile(objectOf(parameters)),
        arrays: typed('array'),
        integers: typed('integer'),
        headers: inParameters.compile(objectOf(headers)),
        headerNames: headers.map(({ name }) => name),
        body: operation.requestBody && compileAt(inBody, json),
      });
    },
  };
}

/** Whether a parameter is written as `name=value`, more than once for a list. */
function isPlain(document: Document, { schema, ...parameter }: Parameter): boolean {
  const { style = 'form', explode = true } = parameter as { style?: string; explode?: boolean };
  return style === 'form' && explode && resolve(document, schema).type !== 'object';
}

function readQuery({ arrays, integers }: Shape, query: Query): Record<string, unknown> | undefined {
  const values: Record<string, unknown> = { ...query };
  for (const name of integers) {
    const value = query[name];
    if (value !== undefined && !isInteger(value)) return undefined;
  }
  for (const name of arrays) if (typeof values[name] === 'string') values[name] = [values[name]];
  return values;
}
