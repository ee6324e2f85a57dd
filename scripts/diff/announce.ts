// By which names CHANGELOG.md announces an addition, in code spans: `GET /currencies`, `installments`, `429`.
import { deprecatedField, gained, isObject, pointerOf, segments, valueOf, type Change } from './change.ts';

/** What the change adds or deprecates, by name. Empty if it has none, such as a higher limit. */
export function namesOf(change: Change): string[] {
  const { kind, typeName, property } = change;
  const steps = segments(pointerOf(change));
  const [part, name = '', method = ''] = steps;
  const [map, last = ''] = steps.slice(-2);
  const value = valueOf(change);
  if (kind === 'removed') return [];
  if (kind === 'modified')
    return property === 'enum' ? gained(change).map(String) : [deprecatedField(change) ?? []].flat();
  if (typeName === 'PathItem' && part === 'webhooks') return [name];
  if (typeName === 'Operation') return [`${method.toUpperCase()} ${name}`];
  if (typeName === 'Parameter' && isObject(value)) return [String(value.name)];
  const owners: Partial<Record<string, string>> = {
    Schema: 'properties',
    Response: 'responses',
    Header: 'headers',
  };
  return map !== undefined && owners[typeName] === map ? [last] : [];
}

/** A line for the changelog to begin with. It has the names in code spans. */
export function proposedLine({
  place,
  what,
  names,
}: {
  place: string;
  what: string;
  names: string[];
}): string {
  if (names.every((name) => announces(codeSpans(what), name)))
    return `\`${place.replace(/^schema /, '')}\`: ${what}.`;
  const isPlace = names.some((name) => name.endsWith(place) || place.endsWith(name));
  return `${names.map((name) => `\`${name}\``).join(', ')}: ${what}${isPlace ? '' : `, in ${place}`}.`;
}

export const codeSpans = (text: string): string => (text.match(/`[^`]+`/gu) ?? []).join('\n');

/** As a whole word, or as `Transaction.limit`: `/buyers` does not announce `/buyers/{buyer_id}`, nor `limits` a `limit`. */
export function announces(text: string, name: string): boolean {
  const word = name.replace(/[^\w\s/-]/gu, '\\$&');
  return new RegExp(`(?:(?<![\\w./{-])|(?<=\\b[A-Z]\\w*\\.))${word}(?![\\w/{-])`, 'u').test(text);
}
