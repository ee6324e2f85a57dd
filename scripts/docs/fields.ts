// The fields of a schema, with their rules in words: for pages and search.
import { resolve } from '../../server/kit/contract/load.ts';
import type { Contract, Parameter, Schema } from './contract.ts';

export interface Field {
  name: string;
  required: boolean;
  /** The type, then others, such as `13 to 19 characters`. */
  rules: string[];
  description: string;
  /** Of an object, or of the objects in an array. */
  fields: Field[];
  /** The name of a kind of object, and not of a field. */
  isKind?: boolean;
}

export function parameterField(contract: Contract, parameter: Parameter): Field {
  const { name, required, description, example, schema = {} } = parameter;
  const examples = example === undefined ? {} : { examples: [example] };
  const field = fieldOf(contract, name, { ...schema, ...examples }, required);
  return { ...field, description: description ?? field.description };
}

/** `within`: the schemas around this one. One that contains itself is shown once. */
export function fieldsOf(contract: Contract, given: Schema = {}, within: Schema[] = []): Field[] {
  const source = resolve(contract, given);
  if (within.includes(source)) return [];
  const inside = [...within, source];
  const {
    properties = {},
    required = [],
    additionalProperties,
    items,
    allOf,
    kinds = [],
  } = flat(contract, given);
  const parts = [...(allOf ?? []), ...(items ? [items] : [])];
  return [
    ...Object.entries(properties).map(([name, one]) =>
      fieldOf(contract, name, one, required.includes(name), inside),
    ),
    ...(typeof additionalProperties === 'object'
      ? [fieldOf(contract, 'any other name', additionalProperties, false, inside)]
      : []),
    ...parts.flatMap((one) => fieldsOf(contract, one, inside)),
    ...kinds.map((kind, at) => ({
      ...fieldOf(contract, flat(contract, kind).title ?? `Kind ${at + 1}`, kind, false, inside),
      isKind: true,
    })),
  ];
}

const fieldOf = (
  contract: Contract,
  name: string,
  given: Schema,
  required = false,
  within?: Schema[],
): Field => ({
  name,
  required,
  rules: rulesOf(contract, given),
  description: textOf(contract, given),
  fields: fieldsOf(contract, given, within),
});

const textOf = (contract: Contract, given: Schema) => flat(contract, given).description ?? '';

/** The type comes first. Values that the text of the field explains are not listed again. */
export function rulesOf(contract: Contract, given: Schema, text = textOf(contract, given)): string[] {
  const { kinds, items, ...schema } = flat(contract, given);
  const values = (schema.enum ?? []).filter((value) => value !== null);
  const isExplained = values.every((value) => text.includes(`\n| ${code(value)} |`));
  const { required: together } = schema.not ?? {};
  const ofItems = items ? rulesOf(contract, items, '') : [];
  return [
    typeOf(schema, kinds, ofItems[0]),
    ...(isExplained ? [] : [`one of ${codes(values)}`]),
    ...('const' in schema && !text.includes(code(schema.const)) ? [`always ${code(schema.const)}`] : []),
    ...ranges.flatMap(([what, unit, units]) => range(schema, what, unit, units)),
    ...(schema.examples ? [`such as ${codes(schema.examples)}`] : []),
    ...(together ? [`not together: ${codes(together)}`] : []),
    ...ofItems.slice(1).map((rule) => `each ${rule}`),
    // Whatever else there is, in the words of JSON Schema.
    ...Object.entries(schema).flatMap(([keyword, value]) =>
      inWords.test(keyword) ? [] : `${keyword} ${code(value)}`,
    ),
  ];
}

/** Of any value, as a span of Markdown. */
export const code = (value: unknown): string =>
  `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;
const codes = (values: unknown[]) => values.map(code).join(', ');

const ranges = [
  ['Length', ' character', ' characters'],
  ['Items', ' item', ' items'],
  ['Properties', ' property', ' properties'],
  ['imum', '', ''],
] as const;

const inWords =
  /^(\$ref|title|description|type|format|enum|const|examples?|not|required|properties|additionalProperties|allOf|(min|max)(Length|Items|Properties|imum))$/;

function typeOf({ type = [], format }: Flat, kinds: Schema[] = [], ofItems = ''): string {
  const words = [type].flat().map((word) => (word === 'array' && ofItems ? `array of ${ofItems}` : word));
  const [first = kinds.length > 0 ? 'one of these' : 'any value', ...others] = words;
  return [typeof format === 'string' ? `${first} (${format})` : first, ...others].join(' or ');
}

function range(schema: Schema, what: string, unit: string, units: string): string[] {
  const [least, most] = [schema[`min${what}`], schema[`max${what}`]].map((one) =>
    typeof one === 'number' ? one : undefined,
  );
  const counted = (count: number) => `${count}${count === 1 ? unit : units}`;
  if (most === undefined) return least === undefined ? [] : [`at least ${counted(least)}`];
  if (least === undefined) return [`at most ${counted(most)}`];
  return [least === most ? counted(most) : `${least} to ${counted(most)}`];
}

/** `kinds`: what the value is one of. */
interface Flat extends Schema {
  kinds?: Schema[];
}

/** With what it refers to. "This or null" becomes a type. */
function flat(contract: Contract, given: Schema): Flat {
  const target = resolve(contract, given);
  const { anyOf, oneOf, ...schema } = { ...target, ...given };
  schema.description = described(given.description, target.description);
  const kinds = (anyOf ?? oneOf ?? []).filter(({ type }) => type !== 'null');
  const [only, another] = kinds;
  if (!only || another) return { ...schema, ...(another ? { kinds } : {}) };
  const inner = flat(contract, only);
  const type = [inner.type ?? [], 'null'].flat();
  return { ...inner, ...schema, type, description: described(schema.description, inner.description) };
}

/** A field says itself what it is, and its type what its values mean: in a table. */
function described(own: string | undefined, general: string | undefined): string | undefined {
  if (own === undefined || own === general) return general;
  const [, table] = /\n(\|[^]*)/.exec(general ?? '') ?? [];
  return table === undefined ? own : `${own}\n\n${table}`;
}
