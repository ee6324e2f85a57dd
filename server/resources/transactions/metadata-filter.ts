// How the values of filters are read, and spelled in one way, so that a cursor is bound to what a filter means.
import { parseJson } from '../../../client/json.ts';
import { readUuid, notAfter, notBefore } from '../../kit/rules/values.ts';

interface Fault {
  loc: (string | number)[];
  msg: string;
  type: string;
}

/** Each key is looked up in an index, so a request may not have thousands. The contract says it in prose, which is 422. */
const mostKeys = 20;

/**
 * The `metadata` filter: JSON objects with string values, merged in order; the last value of a key wins.
 * `faults` has an entry for every text that is not a JSON object with string values, and one for too many keys.
 */
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

/** The filters whose values are UUIDs, which may be written in upper case. A test compares them with the contract. */
export const uuidFilters: ReadonlySet<string> = new Set([
  ...['id', 'buyer_id', 'checkout_session_id', 'gift_card_id', 'payment_method_id', 'payment_service_id'],
]);

export function canonicalFilter(name: string, value: unknown): unknown {
  if (name === 'metadata' && isTexts(value)) return canonicalMetadata(value);
  // The order of values does not matter, and neither does a repetition.
  if (isTexts(value)) return [...new Set(value.map((one) => canonicalText(name, one)))].sort();
  return typeof value === 'string' ? canonicalText(name, value) : value;
}

const isTexts = (value: unknown): value is string[] => Array.isArray(value);

function canonicalText(name: string, text: string): string {
  if (uuidFilters.has(name)) return readUuid(text) ?? text;
  if (name.endsWith('_at_gte')) return notBefore(text).toISOString();
  if (name.endsWith('_at_lte')) return notAfter(text).toISOString();
  return text;
}

/** All objects as one, with sorted keys. What is not valid stays as it is, and is refused elsewhere. */
function canonicalMetadata(texts: readonly string[]): unknown {
  const { required, faults } = readMetadataFilter(texts);
  return faults.length > 0 ? texts : [...required].sort(([one], [other]) => (one < other ? -1 : 1));
}
