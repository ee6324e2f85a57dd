// Lists all violations of a refused request. express-openapi-validator decides whether a request is valid, but it stops at the
// first unknown parameter and does not tell which branch of a oneOf failed, so its errors are not shown to callers.
import type { ValidateFunction } from 'ajv';
import type { Detail } from '../errors.ts';
import { once } from '../rules/async.ts';
import { compileAt, createAjv, pointTo, formats } from './ajv.ts';
import type { Document, OperationEntry, Parameter, Schema } from './load.ts';
import {
  badEncoding,
  isInteger,
  parametersOf,
  parsePath,
  queryParametersOf,
  readQuery,
  type Query,
  type QueryParameters,
} from './url.ts';
import { mostFaults, translate } from './violations.ts';

interface Sent {
  url: string;
  /** With names in lower case, as Node has them. */
  headers: Readonly<Record<string, unknown>>;
  body?: unknown;
}

export function createExplain(document: Document): (entry: OperationEntry, sent: Sent) => Detail[] {
  // Made at the first refusal: a service that has not refused anything yet starts faster without them.
  const ajvs = once(() => ({
    inBody: createAjv(document, { verbose: true }),
    inParameters: createAjv(document, { verbose: true, coerceTypes: true }),
  }));
  const compiled = new Map<string, ReturnType<typeof compile>>();

  const compile = ({ operation, pointer }: OperationEntry) => {
    const { inBody, inParameters } = ajvs();
    const parametersIn = (place: Parameter['in']) => parametersOf(document, operation, place);
    // Header names have no case; Node makes them lower case, and error pointers are so too.
    const headers = parametersIn('header').map((one) => ({ ...one, name: one.name.toLowerCase() }));
    return {
      parameters: queryParametersOf(document, operation),
      path: inParameters.compile(objectOf(parametersIn('path'))),
      query: inParameters.compile(objectOf(parametersIn('query'))),
      headers: inParameters.compile({ ...objectOf(headers), additionalProperties: true }),
      body:
        operation.requestBody && compileAt(inBody, `${pointer}/requestBody/content/application~1json/schema`),
    };
  };

  return (entry, sent) => {
    const known = compiled.get(entry.pointer) ?? compile(entry);
    compiled.set(entry.pointer, known);
    const { inBody, inParameters } = ajvs();
    const faultsIn = (location: 'path' | 'query' | 'header', validate: ValidateFunction, value: object) =>
      validate(value) ? [] : translate(inParameters, validate.errors ?? [], location);
    const path = parsePath(entry.path, sent.url);
    const undecoded = Object.keys(path).filter((name) => path[name] === undefined);
    const { values, faults } = readQuery(known.parameters, sent.url);
    const details = [
      ...faults,
      ...undecoded.map((name) => badEncoding('path', name)),
      ...(undecoded.length === 0 ? faultsIn('path', known.path, path) : []),
      ...faultsIn('query', known.query, typeQuery(known.parameters, values))
        .map(explainRepeated(known.parameters, values))
        .map(explainBrackets(known.parameters))
        .map(explainPlus(values)),
      ...faultsIn('header', known.headers, { ...sent.headers }),
    ];
    if (known.body && sent.body === undefined)
      details.push({ location: 'body', pointer: '', message: 'is required', type: 'value_error.missing' });
    // The body is not copied: copying a deeply nested one overflows the stack.
    else if (known.body && !known.body(sent.body))
      details.push(...translate(inBody, known.body.errors ?? [], 'body'));
    return details.slice(0, mostFaults);
  };
}

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

function typeQuery({ arrays, integers }: QueryParameters, query: Query): Record<string, unknown> {
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
  ({ arrays, names }: QueryParameters, query: Query) =>
  (detail: Detail): Detail => {
    const name = detail.pointer.slice(1);
    return names.has(name) && !arrays.has(name) && Array.isArray(query[name])
      ? { ...detail, message: 'must be given only once', type: 'value_error.duplicate' }
      : detail;
  };

// axios and PHP send a list as `currency[]=EUR` or `currency[0]=EUR`.
const explainBrackets =
  ({ arrays }: QueryParameters) =>
  (detail: Detail): Detail => {
    const name = /^\/(.+)\[\d*\]$/.exec(detail.pointer)?.[1] ?? '';
    return arrays.has(name)
      ? { ...detail, message: `${detail.message}; repeat ${name} for each value, without []` }
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
