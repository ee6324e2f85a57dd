// Cuts lists that are too long down to one entry too many, which is enough to refuse them. Ajv copies all errors so far for
// each faulty entry behind a reference: fifty thousand of them, which fit in a body, would hold the server up for minutes.
import { resolve, type Document, type Schema } from './load.ts';

export function curtail(document: Document, schema: Schema, value: unknown): void {
  if (value === null || typeof value !== 'object') return;
  const { maxItems, items, properties, oneOf, anyOf, allOf } = resolve<Schema>(document, schema);
  for (const branch of [oneOf, anyOf, allOf].flat())
    if (branch !== undefined) curtail(document, branch as Schema, value);
  if (Array.isArray(value)) {
    if (typeof maxItems === 'number' && value.length > maxItems) value.length = maxItems + 1;
    if (items !== undefined) for (const item of value) curtail(document, items as Schema, item);
    return;
  }
  for (const [name, property] of Object.entries(properties ?? {}))
    if (Object.hasOwn(value, name))
      curtail(document, property as Schema, (value as Record<string, unknown>)[name]);
}
