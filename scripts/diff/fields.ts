// The fields of a schema as reviewers read them: name, type, whether it is required, description.
import { isObject, segments, type Json } from './change.ts';
import { at } from './places.ts';

export interface Field {
  name: string;
  type: string;
  required: boolean;
  description: string;
}

/** The field at this place; undefined if there is none. */
export function fieldAt(contract: Json, pointer: string): Field | undefined {
  const steps = pointer.split('/');
  const [name = ''] = segments(steps.at(-1) ?? '');
  if (steps.at(-2) !== 'properties') return undefined;
  return fieldsOf(contract, at(contract, steps.slice(0, -2).join('/'))).find((one) => one.name === name);
}

export function fieldsOf(contract: Json, schema: unknown): Field[] {
  const { properties, required } = isObject(schema) ? schema : {};
  return Object.entries(isObject(properties) ? properties : {}).map(([name, property]) => ({
    name,
    type: typeOf(property),
    required: Array.isArray(required) && required.includes(name),
    description: descriptionOf(contract, property),
  }));
}

function typeOf(schema: unknown): string {
  if (!isObject(schema)) return 'anything';
  const { $ref, type, format, items, enum: values, anyOf, oneOf } = schema;
  if (typeof $ref === 'string') return segments($ref).at(-1) ?? '';
  const choices = anyOf ?? oneOf;
  if (Array.isArray(choices)) return choices.map(typeOf).join(' or ');
  if ('const' in schema) return String(schema.const);
  if (Array.isArray(values)) return values.map(String).join(' or ');
  if (type === 'array') return `list of ${typeOf(items)}`;
  const named = (Array.isArray(type) ? type : [type ?? 'anything']).map(String).join(' or ');
  return typeof format === 'string' ? `${named} (${format})` : named;
}

export function descriptionOf(contract: Json, schema: unknown): string {
  if (!isObject(schema)) return '';
  if (typeof schema.description === 'string') return schema.description.trim();
  const target = typeof schema.$ref === 'string' ? at(contract, schema.$ref) : undefined;
  return isObject(target) && typeof target.description === 'string' ? target.description.trim() : '';
}
