/** Shows a schema of the contract in the words of the tables. */
import type { Contract, Json } from './document.ts';

/**
 * `uuid`, `string 1..200`, a constant as it is, sorted values for a closed list; a list of its items; an object of its
 * fields, whose names end in ` or null` if they may be null and in `?` if they may be left out.
 */
export type Shape = string | Shape[] | { [field: string]: Shape };
export type Fields = Record<string, Shape>;

const named = (names: string, ending: string, shape: Shape): Fields =>
  Object.fromEntries(names.split(' ').map((name) => [name + ending, shape]));

/** Several fields of one shape. */
export const each = (names: string, shape: Shape): Fields => named(names, '', shape);
export const nullable = (names: string, shape: Shape = 'string'): Fields => named(names, ' or null', shape);

export const optional = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).map(([name, shape]) => [`${name}?`, shape]));

/** A closed list. */
export const oneOf = (values: string): string => values.trim().split(/\s+/).sort().join(' ');

/** The keywords that the tables speak about. */
interface Schema {
  anyOf?: Schema[];
  oneOf?: Schema[];
  const?: string;
  enum?: string[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  type?: string | string[];
  format?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
}

export function shapeOf(contract: Contract, given: unknown): Shape {
  const { alternatives } = substanceOf(contract, given);
  const [schema = {}, ...others] = alternatives;
  if (others.length > 0) return alternatives.map((one) => shapeOf(contract, one));
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return oneOf(schema.enum.join(' '));
  if (schema.items) return [shapeOf(contract, schema.items)];
  if (schema.properties) return fieldsOf(contract, schema.properties, schema.required);
  const { minLength, maxLength, minimum = minLength, maximum = maxLength } = schema;
  const range = minimum === undefined && maximum === undefined ? '' : ` ${minimum ?? ''}..${maximum ?? ''}`;
  const type = [schema.type ?? 'any']
    .flat()
    .filter((one) => one !== 'null')
    .join(' or ');
  return (type === 'string' ? (schema.format ?? type) : type) + range;
}

export function fieldsOf(contract: Contract, properties: Json, required: string[] = []): Fields {
  const fields = Object.entries(properties).map(([name, schema]) => {
    const orNull = substanceOf(contract, schema).isNullable ? ' or null' : '';
    return [`${name}${orNull}${required.includes(name) ? '' : '?'}`, shapeOf(contract, schema)] as const;
  });
  return Object.fromEntries(fields);
}

/** The alternatives of `anyOf` and `oneOf` besides null; otherwise the schema itself. */
function substanceOf(contract: Contract, given: unknown): { alternatives: Schema[]; isNullable: boolean } {
  const follow = (value: unknown) => contract.follow({ pointer: '', value }).value as Schema;
  const own = follow(given ?? {});
  const branches = [...(own.anyOf ?? []), ...(own.oneOf ?? [])].map(follow);
  const alternatives = branches.filter(({ type }) => type !== 'null');
  const isNullable = alternatives.length < branches.length || [own.type].flat().includes('null');
  return { alternatives: branches.length === 0 ? [own] : alternatives, isNullable };
}
