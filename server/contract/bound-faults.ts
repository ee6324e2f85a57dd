// Bounds the work of explaining a bad request. What is cut off makes no difference to the verdict: a list that is too long
// keeps one item too many, and an object keeps a hundred properties that the contract does not have. Without this, 50,000
// faulty items or properties in one body block the server: Ajv copies all errors found so far for each faulty item.
import { resolve, type Document, type Schema } from './load.ts';

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

/** The schema itself and everything that it combines. */
function branchesOf(document: Document, schema: Schema): Schema[] {
  const resolved = resolve<Schema>(document, schema);
  const { oneOf, anyOf, allOf } = resolved as Record<string, Schema[] | undefined>;
  const parts = [oneOf, anyOf, allOf].flatMap((list) => list ?? []);
  return [resolved, ...parts.flatMap((part) => branchesOf(document, part))];
}
