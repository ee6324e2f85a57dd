// Cuts lists that are too long down to `maxItems` + 1, which is enough to refuse them. For each faulty item behind a `$ref`,
// Ajv copies all errors found so far: a body of 50,000 faulty items would block the server for minutes.
import { resolve, type Document, type Schema } from './load.ts';

export function truncateLists(document: Document, schema: Schema, value: unknown): void {
  if (value === null || typeof value !== 'object') return;
  const { maxItems, items, properties, oneOf, anyOf, allOf } = resolve<Schema>(document, schema);
  for (const branch of [oneOf, anyOf, allOf].flat())
    if (branch !== undefined) truncateLists(document, branch as Schema, value);
  if (Array.isArray(value)) {
    if (typeof maxItems === 'number' && value.length > maxItems) value.length = maxItems + 1;
    if (items !== undefined) for (const item of value) truncateLists(document, items as Schema, item);
    return;
  }
  for (const [name, property] of Object.entries(properties ?? {}))
    if (Object.hasOwn(value, name))
      truncateLists(document, property as Schema, (value as Record<string, unknown>)[name]);
}
