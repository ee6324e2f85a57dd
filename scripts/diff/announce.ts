// By which names CHANGELOG.md announces an addition, in code spans: `GET /currencies`, `installments`, `429`.
import { deprecatedField, gained, isObject, pointerOf, segments, valueOf, type Change } from './change.ts';

export interface Announced {
  place: string;
  what: string;
  names?: string[];
  /** Of new operations, in the order of their names. */
  summaries?: string[];
}

/** What the change adds or deprecates, by name. Empty if it has none, such as a higher limit. */
export function namesOf(change: Change): string[] {
  const [part = '', name = '', method = ''] = segments(pointerOf(change));
  const value = valueOf(change);
  if (change.kind === 'modified' && change.property === 'enum') return gained(change).map(String);
  if (change.kind === 'modified') return [deprecatedField(change) ?? []].flat();
  if (change.kind === 'removed') return [];
  if (change.typeName === 'PathItem' && part === 'webhooks') return [name];
  if (change.typeName === 'PathItem' && isObject(value))
    return Object.keys(value).flatMap((key) => (methods.has(key) ? `${key.toUpperCase()} ${name}` : []));
  if (change.typeName === 'Operation') return [`${method.toUpperCase()} ${name}`];
  if (change.typeName === 'Parameter' && isObject(value)) return [String(value.name)];
  const [map, last = ''] = segments(pointerOf(change)).slice(-2);
  const isNamed =
    (map === 'properties' && change.typeName === 'Schema') ||
    (map === 'responses' && change.typeName === 'Response') ||
    (map === 'headers' && change.typeName === 'Header');
  return isNamed ? [last] : [];
}

export function summariesOf({ kind, typeName, revision }: Change): string[] {
  const value = revision?.value;
  if (kind !== 'added' || !isObject(value)) return [];
  const operations =
    typeName === 'PathItem'
      ? Object.entries(value).flatMap(([key, one]) => (methods.has(key) ? [one] : []))
      : [value].filter(() => typeName === 'Operation');
  return operations.flatMap((one) => (isObject(one) && typeof one.summary === 'string' ? one.summary : []));
}

export const methods = new Set(['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace']);

/** A line for the changelog to begin with. It has the names in code spans. */
export function proposedLine({ place, what, names = [], summaries = [] }: Announced): string {
  if (names.length > 0 && names.length === summaries.length)
    return names.map((name, index) => `\`${name}\`: ${summaries[index]}.`).join(' ');
  if (names.every((name) => announces(codeSpans(what), name))) return `\`${place}\`: ${what}.`;
  const isPlace = names.some((name) => name.endsWith(place) || place.endsWith(name));
  return `${names.map((name) => `\`${name}\``).join(', ')}: ${what}${isPlace ? '' : `, in ${place}`}.`;
}

export const codeSpans = (text: string): string => (text.match(/`[^`]+`/gu) ?? []).join('\n');

/** As a whole word: `/buyers` does not announce `/buyers/{buyer_id}`, nor `limits` a `limit`. */
export function announces(text: string, name: string): boolean {
  const word = name.replace(/[^\w\s/-]/gu, '\\$&');
  return new RegExp(`(?<![\\w./{-])${word}(?![\\w/{-])`, 'u').test(text);
}
