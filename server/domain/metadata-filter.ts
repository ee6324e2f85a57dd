// The `metadata` filter: JSON objects with string values, merged in order; the last value of a key wins.
import { parseJson } from '../../client/json.ts';

interface Fault {
  loc: (string | number)[];
  msg: string;
  type: string;
}

/** `faults` has an entry for every text that is not a JSON object with string values. */
export function readMetadataFilter(texts: readonly string[]): {
  required: ReadonlyMap<string, string>;
  faults: Fault[];
} {
  const faults: Fault[] = [];
  // A Map, because a key may be named `__proto__`.
  const required = new Map<string, string>();
  for (const [index, text] of texts.entries()) {
    const entries = readEntries(text);
    if (entries) for (const [key, value] of entries) required.set(key, value);
    else
      faults.push({
        loc: ['query', 'metadata', index],
        msg: 'must be a JSON object whose values are strings, URL-encoded',
        type: 'value_error.metadata',
      });
  }
  return { required, faults };
}

function readEntries(text: string): [string, string][] | undefined {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
    // Refused below.
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return undefined;
  const entries = Object.entries(value);
  return entries.every((entry): entry is [string, string] => typeof entry[1] === 'string')
    ? entries
    : undefined;
}
