/** All constraints of the contract, in the form in which violations report them, to check that each one was broken. */
import { operations, type OperationId } from '../../../generated/operations.ts';
import type { Schema } from '../../../server/contract/load.ts';
import { bodySchemaOf, parametersOf, schemaOf, substance } from '../../support/requests.ts';

const byKeyword: Record<string, string> = {
  minLength: 'value_error.str.min_length',
  maxLength: 'value_error.str.max_length',
  pattern: 'value_error.str.regex',
  minimum: 'value_error.number.not_ge',
  maximum: 'value_error.number.not_le',
  minItems: 'value_error.list.min_items',
  maxItems: 'value_error.list.max_items',
  enum: 'value_error.enum',
  const: 'value_error.const',
};
const byFormat: Record<string, string> = {
  uuid: 'value_error.uuid',
  uri: 'value_error.url',
  'date-time': 'value_error.datetime',
};

/** `operation location pointer type`, with `*` for an index and `unicorn` for an undeclared name. */
export const constraints = (Object.keys(operations) as OperationId[]).flatMap((id) => {
  const body = bodySchemaOf(id);
  return [
    `${id} query /unicorn value_error.extra`,
    ...parametersOf(id).flatMap(({ name, schema }) => ofParameter(`${id} query /${name}`, schema)),
    ...(body ? [`${id} body  value_error.missing`, ...ofValue(`${id} body `, body)] : []),
  ];
});

function ofParameter(at: string, given: unknown): string[] {
  const { schema } = substance(given);
  // Query values are text, so only numbers and booleans can have the wrong type.
  if (schema.type === 'array')
    return [`${at} ${byKeyword.maxItems ?? ''}`, ...ofKeywords(`${at}/*`, schemaOf(schema.items))];
  const typed = schema.type === 'string' ? [] : [`${at} type_error.${String(schema.type)}`];
  return [`${at} value_error.duplicate`, ...typed, ...ofKeywords(at, schema)];
}

function ofValue(at: string, given: unknown): string[] {
  const { schema } = substance(given);
  if (Array.isArray(schema.oneOf))
    return [`${at} type_error.object`, ...schema.oneOf.flatMap((branch) => ofObject(at, schemaOf(branch)))];
  return [
    `${at} type_error.${String(schema.type)}`,
    ...ofKeywords(at, schema),
    ...(schema.type === 'object' ? ofObject(at, schema) : []),
    ...(schema.type === 'array' ? ofValue(`${at}/*`, schema.items) : []),
  ];
}

function ofObject(at: string, { properties, required, not }: Schema): string[] {
  const [first] = ((not as Schema | undefined)?.required ?? []) as string[];
  return [
    `${at}/unicorn value_error.extra`,
    ...((required ?? []) as string[]).map((name) => `${at}/${name} value_error.missing`),
    ...(first === undefined ? [] : [`${at}/${first} value_error.exclusive`]),
    ...Object.entries(properties as object).flatMap(([name, part]) => ofValue(`${at}/${name}`, part)),
  ];
}

function ofKeywords(at: string, schema: Schema): string[] {
  const types = Object.entries(byKeyword).flatMap(([keyword, type]) =>
    // The pattern of a URL is reported in the words of its format.
    keyword in schema && !(keyword === 'pattern' && schema.format === 'uri') ? [type] : [],
  );
  return [...types, byFormat[String(schema.format)] ?? []].flat().map((type) => `${at} ${type}`);
}

/** A violation in the same form. */
export const broken = (
  id: OperationId,
  { location, pointer, type }: { location: string; pointer: string; type: string },
): string => `${id} ${location} ${pointer.replace(/\/\d+(?=\/|$)/g, '/*')} ${type}`;
