// Finds values that are valid JSON but that PostgreSQL cannot store.
import { notAfter } from './instants.ts';

/** False for JSON text with U+0000 or a lone surrogate. */
export const isStorable = (json: string): boolean => !/(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/i.test(json);

/** Why a valid record cannot be stored; undefined when it can. */
export function whyUnstorable(record: { created_at: string; updated_at: string }): string | undefined {
  if (!isStorable(JSON.stringify(record)))
    return 'has text with U+0000 or a lone surrogate, which cannot be stored';
  for (const name of ['created_at', 'updated_at'] as const) {
    const year = notAfter(record[name]).getUTCFullYear();
    if (year < 0 || year > 9999) return `${name} is not in the years 0000 to 9999 of UTC`;
  }
  return undefined;
}
