// Describes a change in words. Uses the message of Redocly's verdict if there is one.
import {
  deprecatedField,
  gained,
  isObject,
  lost,
  pointerOf,
  segments,
  valueOf,
  type Change,
} from './change.ts';

export function describe(change: Change): string {
  const { kind, typeName, property, verdicts } = change;
  const value = valueOf(change);
  const deprecated = deprecatedField(change);
  if (typeName === 'SecurityRequirement') return security(change);
  if (typeName === 'Schema' && property === 'required') return required(change);
  if (kind === 'added' && pointerOf(change).endsWith('/x-deprecation') && isObject(value))
    return `deprecated since ${show(value.since)}, removed after ${show(value.sunset)}`;
  if (verdicts.length > 0) return verdicts.map(({ message }) => phrase(message)).join('; ');
  if (deprecated !== undefined) return `field \`${deprecated}\` is now deprecated`;
  if (kind === 'added' && typeName === 'Operation' && isObject(value))
    return `new operation${value.summary === undefined ? '' : `: ${show(value.summary)}`}`;
  if (kind === 'added') return `new ${subject(change)}`;
  return kind === 'removed' ? `${subject(change)} was removed` : modified(change);
}

const phrase = (sentence: string) => sentence.charAt(0).toLowerCase() + sentence.slice(1).replace(/\.$/, '');

function modified(change: Change): string {
  const { property = '', base, revision } = change;
  const [before, after] = [base?.value, revision?.value];
  if (property === 'key') return `${noun(change)} \`${show(before)}\` was renamed to \`${show(after)}\``;
  const thing = subject(change);
  const what = thing === '' ? `\`${property}\`` : `\`${property}\` of ${thing}`;
  if (before === undefined) return `${what} was set${isBrief(after) ? ` to ${show(after)}` : ''}`;
  if (after === undefined) return `${what} was removed`;
  if (Array.isArray(before) && Array.isArray(after))
    return `${what} ${gainedAndLost(change, 'gained ', 'lost ') || 'was reordered'}`;
  return `${what} changed${isBrief(before) && isBrief(after) ? ` from ${show(before)} to ${show(after)}` : ''}`;
}

const required = (change: Change) =>
  gainedAndLost(change, 'now required: ', 'no longer required: ', (name) => `\`${show(name)}\``) ||
  'the required fields were reordered';

function gainedAndLost(change: Change, more: string, less: string, word = show): string {
  const lists = [
    { items: gained(change), prefix: more },
    { items: lost(change), prefix: less },
  ].filter(({ items }) => items.length > 0);
  return lists.map(({ items, prefix }) => prefix + items.map(word).join(', ')).join(' and ');
}

function noun({ typeName, path }: Change): string {
  if (typeName === 'PathItem') return path.startsWith('#/webhooks') ? 'webhook' : 'path';
  return typeName.replace(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter}`).toLowerCase();
}

/** What changed within the reported place; empty if a keyword of the place itself changed. */
function subject(change: Change): string {
  const steps = segments(pointerOf(change));
  if (change.kind === 'modified' && steps.at(-1) === change.property) steps.pop();
  if (change.kind === 'modified' && steps.length <= (steps[0] === 'info' ? 1 : 3)) return '';
  const value = valueOf(change);
  if (change.typeName === 'Schema') return schema(steps);
  if (change.typeName === 'Parameter' && isObject(value))
    return `${show(value.in)} parameter \`${show(value.name)}\``;
  const name = steps.at(-1) ?? '';
  if (change.typeName === 'SpecExtension') return `\`${name}\``;
  return /^(Header|Response|MediaType|Example)$/.test(change.typeName)
    ? `${noun(change)} \`${name}\``
    : noun(change);
}

/** A schema by its field or component name, or else by the keyword it is under. */
function schema(steps: string[]): string {
  const [map = '', name = ''] = steps.slice(-2);
  if (map === 'properties') return `field \`${name}\``;
  if (map === 'schemas') return `schema \`${name}\``;
  const owner = steps[steps.lastIndexOf('properties') + 1];
  const suffix = steps.includes('properties') && owner !== undefined ? ` of field \`${owner}\`` : '';
  if (/^\d+$/.test(name)) return `alternative of \`${map}\`${suffix}`;
  return name === 'schema' ? 'the schema' : `\`${name}\`${suffix}`;
}

function security(change: Change): string {
  const scopes = (value: unknown) =>
    (isObject(value) ? Object.values(value) : [value]).flat().map(show).join(' and ') || 'none';
  if (change.kind === 'modified')
    return `the token needs the scope ${scopes(change.revision?.value)} instead of ${scopes(change.base?.value)}`;
  const verb = change.kind === 'added' ? 'is accepted too' : 'is no longer accepted';
  return `a token with the scope ${scopes(valueOf(change))} ${verb}`;
}

const isBrief = (value: unknown) => show(value).length <= 60;

const show = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
