// One spelling for every value of a filter, so that a cursor is bound to what a filter means.
import { notAfter, notBefore } from '../../rules/instants.ts';
import { readMetadataFilter } from './metadata-filter.ts';
import { readUuid } from '../../rules/uuid.ts';

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
  if (name.endsWith('_at_gte')) return formatTime(notBefore(text));
  if (name.endsWith('_at_lte')) return formatTime(notAfter(text));
  return text;
}

const formatTime = (time: Date) => time.toISOString().replace('.000Z', 'Z');

/** All objects as one, with sorted keys. What is not valid stays as it is, and is refused elsewhere. */
function canonicalMetadata(texts: readonly string[]): unknown {
  const { required, faults } = readMetadataFilter(texts);
  if (faults.length > 0) return texts;
  const members = [...required.keys()]
    .sort()
    .map((key) => `${JSON.stringify(key)}:${JSON.stringify(required.get(key))}`);
  return [`{${members.join(',')}}`];
}
