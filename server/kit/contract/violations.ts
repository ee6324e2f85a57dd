// Translates Ajv errors into the details of an API error: JSON pointer, message, type. Of a oneOf or anyOf it reports only
// the errors of the branch that the caller most likely meant.
import type { ErrorObject, ValidateFunction } from 'ajv';
import type { Ajv2020 } from 'ajv/dist/2020.js';
import type { Detail } from '../errors.ts';
import { compileAt } from './ajv.ts';
import { resolve, type Document, type Schema } from './load.ts';

type Location = Detail['location'];

/** The Ajv that found the errors must be `verbose`, so that they contain the schema and the data. */
export function translate(ajv: Ajv2020, errors: readonly ErrorObject[], location: Location): Detail[] {
  const found = expand(ajv, withoutSurplusItems(errors));
  const at = (...keywords: string[]) =>
    new Set(
      found.filter(({ keyword }) => keywords.includes(keyword)).map(({ instancePath }) => instancePath),
    );
  const mistyped = at('type');
  const outOfRange = at('minimum', 'maximum');
  const relevant = found.filter(({ keyword, instancePath, params }) => {
    // Ajv also reports `not` for a value of the wrong type, where the type error says enough.
    if (keyword === 'not') return !mistyped.has(instancePath);
    // The minimum or maximum says more than "must fit in int32".
    return !(isNumeric(params.format) && outOfRange.has(instancePath));
  });
  // Unknown properties come last: they are often misspellings of missing ones.
  const ordered = [...relevant].sort((a, b) => Number(isExtra(a)) - Number(isExtra(b)));
  const details = ordered.map((error) => ({ location, ...describe(error, location) }));
  return [...new Map(details.map((detail) => [`${detail.pointer}\n${detail.type}`, detail])).values()];
}

// Replaces the errors at and below a oneOf or anyOf with those of its best branch, outermost first. Each error looks up only
// its own ancestors: comparing all errors with each other would take too long for a body with 50,000 of them.
function expand(ajv: Ajv2020, errors: readonly ErrorObject[]): ErrorObject[] {
  const choices = new Map<string, ErrorObject>();
  // Ajv reports a choice after its branches, so the last one at the same path is the outermost.
  for (const error of errors) if (isChoice(error)) choices.set(error.instancePath, error);
  return errors.flatMap((error) => {
    const around = [...ancestors(error.instancePath)].map((path) => choices.get(path));
    const outermost = around.find((choice) => choice !== undefined);
    // A keyword next to the choice does not belong to a branch.
    if (!outermost || (error.parentSchema === outermost.parentSchema && !isChoice(error))) return [error];
    return error === outermost ? expand(ajv, errorsOfBestBranch(ajv, error)) : [];
  });
}

function errorsOfBestBranch(ajv: Ajv2020, choice: ErrorObject): ErrorObject[] {
  const branches = choice.schema as Schema[];
  const orNull = branches.some((branch) => branch.type === 'null');
  const candidates = branches
    .filter((branch) => branch.type !== 'null')
    .map((branch) => {
      const validate = compile(ajv, branch);
      validate(choice.data);
      const errors = [...(validate.errors ?? [])];
      const own = errors.filter(({ instancePath }) => instancePath === '');
      const missing = own.filter(({ keyword }) => keyword === 'required');
      return { errors, unknown: own.filter(isExtra).length, missing: missing.length };
    })
    // The names of the sent properties show which branch was meant; their values may be wrong.
    .sort((a, b) => a.unknown - b.unknown || a.missing - b.missing || a.errors.length - b.errors.length);
  return (candidates[0]?.errors ?? []).map((error) => ({
    ...error,
    // The branch was validated alone, so its message does not say that null is allowed too.
    ...(orNull && error.keyword === 'type' && error.instancePath === ''
      ? { params: { type: [(error.params as { type: unknown }).type, 'null'].flat() } }
      : {}),
    instancePath: choice.instancePath + error.instancePath,
  }));
}

/** Ajv keeps what it has compiled. */
const compile = (ajv: Ajv2020, branch: Schema): ValidateFunction =>
  typeof branch.$ref === 'string'
    ? compileAt(ajv, branch.$ref.slice(branch.$ref.indexOf('#') + 1))
    : ajv.compile(branch);

const isChoice = ({ keyword }: ErrorObject) => keyword === 'oneOf' || keyword === 'anyOf';

const isExtra = ({ keyword }: ErrorObject) =>
  keyword === 'additionalProperties' || keyword === 'unevaluatedProperties';

const isNumeric = (format: unknown) => /^(int|float|double)/.test(String(format));

/** Outermost first: '', '/items', '/items/0'. */
function* ancestors(pointer: string): Generator<string> {
  for (let end = 0; end !== -1; end = pointer.indexOf('/', end + 1)) yield pointer.slice(0, end);
  if (pointer !== '') yield pointer;
}

// Drops errors of items beyond `maxItems`: the caller has to remove these items anyway.
function withoutSurplusItems(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const limits = new Map<string, number>();
  for (const { keyword, instancePath, params } of errors)
    if (keyword === 'maxItems') limits.set(instancePath, Number((params as { limit: unknown }).limit));
  return errors.filter(({ instancePath }) => {
    const path = [...ancestors(instancePath)];
    return !path.some(
      (list, depth) => Number(path[depth + 1]?.slice(list.length + 1)) >= (limits.get(list) ?? Infinity),
    );
  });
}

const escape = (key: unknown) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`;

function describe(error: ErrorObject, location: Location): Omit<Detail, 'location'> {
  const { keyword, instancePath: at } = error;
  const params = error.params as Record<string, unknown>;
  const limit = Number(params.limit);
  const fault = (message: string, type: string, pointer = at) => ({ pointer, message, type });
  switch (keyword) {
    case 'required':
      return fault('is required', 'value_error.missing', at + escape(params.missingProperty));
    case 'additionalProperties':
    case 'unevaluatedProperties': {
      const name = params.additionalProperty ?? params.unevaluatedProperty;
      const what = location === 'query' ? 'parameter' : 'property';
      return fault(`is not a known ${what}`, 'value_error.extra', at + escape(name));
    }
    case 'type':
      return describeType(at, [params.type].flat() as string[]);
    case 'enum':
      return fault(`must be one of: ${(params.allowedValues as string[]).join(', ')}`, 'value_error.enum');
    case 'const':
      return fault(`must be ${String(params.allowedValue)}`, 'value_error.const');
    case 'minLength':
      return fault(`must have ${count(limit, 'character')} or more`, 'value_error.str.min_length');
    case 'maxLength':
      return fault(`must have ${count(limit, 'character')} or less`, 'value_error.str.max_length');
    case 'pattern':
      // The pattern of a URL is too long to read.
      if ((error.parentSchema as Schema).format === 'uri') return describeFormat(at, 'uri');
      return fault(`must match the pattern ${String(params.pattern)}`, 'value_error.str.regex');
    case 'minimum':
      return fault(`must be ${limit} or more`, 'value_error.number.not_ge');
    case 'maximum':
      return fault(`must be ${limit} or less`, 'value_error.number.not_le');
    case 'minItems':
      return fault(`must have ${count(limit, 'item')} or more`, 'value_error.list.min_items');
    case 'maxItems':
      return fault(`must have ${count(limit, 'item')} or less`, 'value_error.list.max_items');
    case 'format':
      return describeFormat(at, String(params.format));
    case 'not':
      return describeExclusion(at, error.schema as Schema);
    default:
      return fault(error.message ?? 'is not valid', `value_error.${keyword.toLowerCase()}`);
  }
}

const count = (limit: number, noun: string) => `${limit} ${noun}${limit === 1 ? '' : 's'}`;

function describeType(pointer: string, types: string[]) {
  const [first = 'value'] = types.filter((type) => type !== 'null');
  const what = first === 'boolean' ? 'true or false' : `${/^[aeiou]/.test(first) ? 'an' : 'a'} ${first}`;
  const orNull = types.includes('null') ? ' or null' : '';
  return { pointer, message: `must be ${what}${orNull}`, type: `type_error.${first}` };
}

const formatFaults: Record<string, [message: string, type: string]> = {
  uuid: ['must be a UUID', 'value_error.uuid'],
  uri: [
    'must be an http or https URL in ASCII, with a host and without a user name or password',
    'value_error.url',
  ],
  'date-time': [
    'must be a date-time with its time zone, such as 2026-11-15T10:30:00Z',
    'value_error.datetime',
  ],
};

function describeFormat(pointer: string, format: string) {
  const [message, type] =
    formatFaults[format] ??
    (isNumeric(format)
      ? [`must fit in ${format}`, 'value_error.number.size']
      : [`must be of the format ${format}`, `value_error.${format.replaceAll('-', '_')}`]);
  return { pointer, message, type };
}

// The contract writes `not: {required: [a, b]}` for two properties that exclude each other.
function describeExclusion(at: string, schema: Schema) {
  const [first, ...others] = Array.isArray(schema.required) ? (schema.required as string[]) : [];
  if (first === undefined) return { pointer: at, message: 'is not allowed here', type: 'value_error.not' };
  return {
    pointer: at + escape(first),
    message: `cannot be combined with ${others.join(' and ')}`,
    type: 'value_error.exclusive',
  };
}

// Bounds the work of explaining a bad request. What is cut off makes no difference to the verdict: a list that is too long
// keeps one item too many, and an object keeps a hundred properties that the contract does not have. Without this, 50,000
// faulty items or properties in one body block the server: Ajv copies all errors found so far for each faulty item.

/** How many faults a caller is told at most; the contract says the same of `details`. */
export const mostFaults = 100;

export function boundFaults(document: Document, schema: Schema, value: unknown): void {
  if (value === null || typeof value !== 'object') return;
  const branches = branchesOf(document, schema);
  if (Array.isArray(value)) {
    const limits = branches.flatMap(({ maxItems }) => (typeof maxItems === 'number' ? [maxItems] : []));
    if (limits.length > 0) value.length = Math.min(value.length, Math.max(...limits) + 1);
    for (const { items } of branches)
      if (items !== undefined) for (const item of value) boundFaults(document, items as Schema, item);
    return;
  }
  const object = value as Record<string, unknown>;
  const known = new Set(branches.flatMap(({ properties }) => Object.keys(properties ?? {})));
  if (branches.some(isClosed)) dropUnknown(object, known);
  for (const { properties } of branches)
    for (const [name, property] of Object.entries(properties ?? {}))
      boundFaults(document, property as Schema, object[name]);
}

/** Keeps the known names, and the first hundred of the others. */
export function dropUnknown(object: Record<string, unknown>, known: ReadonlySet<string>): void {
  let unknown = 0;
  for (const name of Object.keys(object)) {
    if (known.has(name)) continue;
    unknown += 1;
    if (unknown > mostFaults) Reflect.deleteProperty(object, name);
  }
}

const isClosed = ({ additionalProperties, unevaluatedProperties }: Schema) =>
  additionalProperties === false || unevaluatedProperties === false;

function branchesOf(document: Document, schema: Schema): Schema[] {
  const resolved = resolve<Schema>(document, schema);
  const { oneOf, anyOf, allOf } = resolved as Record<string, Schema[] | undefined>;
  const parts = [oneOf, anyOf, allOf].flatMap((list) => list ?? []);
  return [resolved, ...parts.flatMap((part) => branchesOf(document, part))];
}
