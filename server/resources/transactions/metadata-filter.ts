// The `metadata` filter: JSON objects with string values, merged in order; the last value of a key wins.
import { parseJson } from '../../../client/json.ts';

interface Fault {
  loc: (string | number)[];
  msg: string;
  type: string;
}

/** Each key is looked up in an index, so a request may not have thousands. The contract says it in prose, which is 422. */
const mostKeys = 20;

/** `faults` has an entry for every text that is not a JSON object with string values, and one for too many keys. */
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
  if (required.size > mostKeys)
    faults.push({
      loc: ['query', 'metadata'],
      msg: `must have at most ${mostKeys} keys in all`,
      type: 'value_error.metadata',
    });
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
