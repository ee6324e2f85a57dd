// What of a bundled contract is prose, on which no validator depends.
import type { Document } from '../../server/kit/contract/load.ts';

/** For JSON.parse. A property that is called "description" has a schema, which is no string. */
export const withoutDescriptions = (key: string, value: unknown): unknown =>
  key === 'description' && typeof value === 'string' ? undefined : value;

/** An example may have a field `description`, which must match its schema. */
export function withoutProse(text: string): string {
  const { examples } = (JSON.parse(text) as Document).components;
  return JSON.stringify([JSON.parse(text, withoutDescriptions), examples]);
}
