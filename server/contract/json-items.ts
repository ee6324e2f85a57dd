// Lists whose items the database wrote as JSON (JsonText in generated/operations.ts): how they are recognised, and written
// into an answer.
import type { JsonText } from '../../generated/operations.ts';

export type JsonList = Record<string, unknown> & { items: readonly JsonText<unknown>[] };

/** The items of a list are all JSON, or none is. An empty list is an ordinary value. */
export const isJsonList = (body: unknown): body is JsonList => {
  const items = (body as { items?: unknown } | null)?.items;
  return (
    Array.isArray(items) && typeof (items[0] as Partial<JsonText<unknown>> | undefined)?.json === 'string'
  );
};

/** Empty for a response without content. */
export function writeBody(body: unknown): string {
  if (body === undefined) return '';
  if (!isJsonList(body)) return JSON.stringify(body);
  const { items, ...rest } = body;
  const around = JSON.stringify(rest);
  let text = '{"items":[';
  for (const [index, { json }] of items.entries()) text += index === 0 ? json : `,${json}`;
  return `${text}]${around === '{}' ? '' : ','}${around.slice(1)}`;
}
