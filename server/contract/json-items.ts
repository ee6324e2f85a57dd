// Lists whose items the database wrote as JSON (JsonBytes in generated/operations.ts): how they are recognised, and written
// into an answer.
import type { JsonBytes } from '../../generated/operations.ts';

export type JsonList = Record<string, unknown> & { items: readonly { readonly json: Buffer }[] };

/** The items of a list are all JSON, or none is. An empty list is an ordinary value. */
export const isJsonList = (body: unknown): body is JsonList => {
  const items = (body as { items?: unknown } | null)?.items;
  return Array.isArray(items) && Buffer.isBuffer((items[0] as Partial<JsonBytes<unknown>> | undefined)?.json);
};

const comma = Buffer.from(',');

/** Empty for a response without content. */
export function writeBody(body: unknown): string | Buffer {
  if (body === undefined) return '';
  if (!isJsonList(body)) return JSON.stringify(body);
  const { items, ...rest } = body;
  const around = JSON.stringify(rest);
  const parts: Buffer[] = [Buffer.from('{"items":[')];
  for (const [index, { json }] of items.entries()) {
    if (index > 0) parts.push(comma);
    parts.push(json);
  }
  parts.push(Buffer.from(`]${around === '{}' ? '' : ','}${around.slice(1)}`));
  return Buffer.concat(parts);
}
