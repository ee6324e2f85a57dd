// Explains a refused request: every violation at once, in the contract's words. express-openapi-validator judges; it stops
// at the first unknown parameter and loses which branch of a oneOf it speaks of, so the reasons are worked out here.
import type { ValidateFunction } from 'ajv';
import { operations, type OperationId } from '../../generated/operations.ts';
import type { Detail } from '../errors.ts';
import { compileAt, createAjv, pointTo } from './ajv.ts';
import {
  operationsOf,
  resolve,
  type ContractOperation,
  type Document,
  type Parameter,
  type Schema,
} from './load.ts';
import type { PathValues } from './path.ts';
import type { Query } from './query.ts';
import { createTranslator } from './violations.ts';

interface Shape {
  path: ValidateFunction;
  query: ValidateFunction;
  body: ValidateFunction | undefined;
  arrays: ReadonlySet<string>;
  integers: ReadonlySet<string>;
  names: ReadonlySet<string>;
}

export interface Explainer {
  /** Whether the query has what express-openapi-validator lets through: unknown names in brackets, hexadecimal numbers. */
  isSloppy: (id: OperationId, query: Query) => boolean;
  explain: (id: OperationId, query: Query, body: unknown, path?: PathValues) => Detail[];
}

export function createExplainer(document: Document): Explainer {
  const inBody = createAjv(document, { verbose: true });
  const inQuery = createAjv(document, { verbose: true, coerceTypes: true });
  const translateBody = createTranslator(inBody);
  const translateQuery = createTranslator(inQuery);
  const shapes = new Map<OperationId, Shape>();
  for (const { operation, pointer } of operationsOf(document)) {
    const parameters = parametersIn('query', document, operation);
    const typed = (type: string) =>
      new Set(
        parameters.filter(({ schema }) => resolve(document, schema).type === type).map(({ name }) => name),
      );
    shapes.set(operation.operationId as OperationId, {
      path: inQuery.compile(objectOf(parametersIn('path', document, operation))),
      query: inQuery.compile(objectOf(parameters)),
      body:
        operation.requestBody && compileAt(inBody, `${pointer}/requestBody/content/application~1json/schema`),
      arrays: typed('array'),
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
    isSloppy(id, query) {
      const { integers, names } = shapeOf(id);
      return Object.entries(query).some(
        ([name, value]) => !names.has(name) || (integers.has(name) && !isInteger(value)),
      );
    },
    explain(id, query, body, path = {}) {
      const shape = shapeOf(id);
      const details: Detail[] = Object.keys(path)
        .filter((name) => path[name] === undefined)
        .map((name) => ({ location: 'path', pointer: `/${name}`, ...notEncoded }));
      if (details.length === 0 && !shape.path({ ...path }))
        details.push(...translateQuery(shape.path.errors ?? [], 'path'));
      if (!shape.query(readQuery(shape, query)))
        details.push(...translateQuery(shape.query.errors ?? [], 'query').map(oncePlease(shape, query)));
      if (!shape.body) return details;
      if (body === undefined)
        return [
          ...details,
          { location: 'body', pointer: '', message: 'is required', type: 'value_error.missing' },
        ];
      // Not a copy of the body: copying one that is nested deeply enough overflows the stack.
      if (!shape.body(body)) details.push(...translateBody(shape.body.errors ?? [], 'body'));
      return details;
    },
  };
}

// Coercion would take 0x10 and 1e3 for integers, and 400 digits for Infinity, which no maximum stops.
const isInteger = (value: string | string[]): boolean =>
  typeof value === 'string' && /^-?\d+$/.test(value) && Number.isFinite(Number(value));

function readQuery({ arrays, integers }: Shape, query: Query): Record<string, unknown> {
  const given = Object.create(null) as Record<string, unknown>;
  for (const [name, value] of Object.entries(query)) {
    if (arrays.has(name)) given[name] = [value].flat();
    else if (integers.has(name) && typeof value === 'string' && !isInteger(value))
      given[name] = /^-?\d+$/.test(value) ? Math.sign(Number(value)) * Number.MAX_VALUE : 'no integer';
    else given[name] = value;
  }
  return given;
}

// To somebody who sent a parameter twice, "must be a string" says nothing.
const oncePlease =
  ({ arrays, names }: Shape, query: Query) =>
  (detail: Detail): Detail => {
    const name = detail.pointer.slice(1);
    return names.has(name) && !arrays.has(name) && Array.isArray(query[name])
      ? { ...detail, message: 'must be given only once', type: 'value_error.duplicate' }
      : detail;
  };

const notEncoded = { message: 'is not encoded as a URL has it', type: 'value_error.url_encoding' };

const parametersIn = (
  place: Parameter['in'],
  document: Document,
  operation: ContractOperation,
): Parameter[] =>
  (operation.parameters ?? [])
    .map((parameter) => resolve<Parameter>(document, parameter))
    .filter((parameter) => parameter.in === place);

const objectOf = (parameters: Parameter[]): Schema => ({
  type: 'object',
  additionalProperties: false,
  required: parameters.filter((parameter) => parameter.required).map(({ name }) => name),
  properties: absolute(Object.fromEntries(parameters.map(({ name, schema }) => [name, schema]))),
});

// The schemas leave the document here, so their references must name it.
const absolute = (value: unknown): Schema =>
  JSON.parse(JSON.stringify(value), (key, item: unknown) =>
    key === '$ref' && typeof item === 'string' ? pointTo(item.slice(1)).$ref : item,
  ) as Schema;

/** What a refusal may fall back on when explainer and judge disagree, which no test has seen yet. */
export const unexplained: Detail = {
  location: 'body',
  pointer: '',
  message: 'does not match the contract',
  type: 'value_error',
};

export const hasBody = (document: Document, id: OperationId): boolean =>
  document.paths[operations[id].path]?.[operations[id].method]?.requestBody !== undefined;
