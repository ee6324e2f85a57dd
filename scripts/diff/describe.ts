// Describes a change in words. Uses the message of Redocly's verdict if there is one.
import {
  deprecatedField,
  gained,
  isObject,
  lost,
  pointerOf,
  segments,
  unexplained,
  valueOf,
  type Change,
} from './change.ts';

export function describe(change: Change): string {
  if (change === unexplained) return 'the contracts differ in a way that `redocly diff` does not show';
  if (change.typeName === 'SecurityRequirement') return security(change);
  if (pointerOf(change).endsWith('/x-deprecation') && change.kind === 'added')
    return deprecation(valueOf(change));
  if (change.verdicts.length > 0) return change.verdicts.map(({ message }) => phrase(message)).join('; ');
  if (change.kind === 'added') return `new ${subject(change)}`;
  if (change.kind === 'removed') return `${subject(change)} was removed`;
  return modified(change);
}

function deprecation(value: unknown): string {
  const { since, sunset } = isObject(value) ? value : {};
  return `deprecated since ${show(since)}, removed after ${show(sunset)}`;
}

const phrase = (sentence: string) => sentence.charAt(0).toLowerCase() + sentence.slice(1).replace(/\.$/, '');

function modified(change: Change): string {
  const { property = '', base, revision } = change;
  const [before, after] = [base?.value, revision?.value];
  const deprecated = deprecatedField(change);
  if (deprecated !== undefined) return `field \`${deprecated}\` is now deprecated`;
  if (property === 'key') return `${noun(change)} \`${show(before)}\` was renamed to \`${show(after)}\``;
  const thing = subject(change);
  const what = thing === '' ? `\`${property}\`` : `\`${property}\` of ${thing}`;
  if (before === undefined) return `${what} was set${brief(after) ? ` to ${show(after)}` : ''}`;
  if (after === undefined) return `${what} was removed`;
  if (Array.isArray(before) && Array.isArray(after)) {
    const [more, less] = [gained(change), lost(change)].map((items) => items.map(show).join(', '));
    const parts = [more ? `gained ${more}` : '', less ? `lost ${less}` : ''].filter((part) => part !== '');
    return `${what} ${parts.join(' and ') || 'was reordered'}`;
  }
  return `${what} changed${brief(before) && brief(after) ? ` from ${show(before)} to ${show(after)}` : ''}`;
}

const nouns: Record<string, string> = {
  SpecExtension: 'extension',
  ExternalDocs: 'link',
  SchemaProperties: 'fields',
};

function noun({ typeName, path }: Change): string {
  if (typeName === 'PathItem') return path.startsWith('#/webhooks') ? 'webhook' : 'path';
  return nouns[typeName] ?? typeName.replace(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter}`).toLowerCase();
}

/** What changed within the reported place; empty if a keyword of the place itself changed. */
function subject(change: Change): string {
  const steps = segments(pointerOf(change));
  if (change.kind === 'modified' && steps.at(-1) === change.property) steps.pop();
  const [map = '', name = ''] = steps.slice(-2);
  const depth = steps[0] === 'info' ? 1 : 3;
  if (change.kind === 'modified' && steps.length <= depth) return '';
  const value = valueOf(change);
  if (change.typeName === 'Schema') return schema(steps);
  if (change.typeName === 'Parameter' && isObject(value))
    return `${show(value.in)} parameter \`${show(value.name)}\``;
  if (change.typeName === 'Tag' && isObject(value)) return `tag \`${show(value.name)}\``;
  if (change.typeName === 'PathItem' && isObject(value)) return `${noun(change)}${methods(value)}`;
  if (change.typeName === 'SpecExtension') return `\`${name}\``;
  const called = /^(Header|Response|MediaType|Example|SecurityScheme|Link|Callback)$/.test(change.typeName);
  return called && map !== '' && (map === 'responses' || !/^\d+$/.test(name))
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

function methods(item: Record<string, unknown>): string {
  const names = Object.keys(item).filter((key) =>
    /^(get|put|post|delete|options|head|patch|trace)$/.test(key),
  );
  return names.length === 0 ? '' : ` (${names.map((key) => key.toUpperCase()).join(', ')})`;
}

function security(change: Change): string {
  const scopes = (value: unknown) => (isObject(value) ? Object.values(value).flat() : value);
  if (change.kind === 'added')
    return `a token with the scope ${list(scopes(valueOf(change)))} is accepted too`;
  if (change.kind === 'removed')
    return `a token with the scope ${list(scopes(valueOf(change)))} is no longer accepted`;
  return `the token needs the scope ${list(change.revision?.value)} instead of ${list(change.base?.value)}`;
}

const list = (value: unknown) =>
  Array.isArray(value) && value.length > 0 ? value.map(show).join(' and ') : 'none';

const brief = (value: unknown) => show(value).length <= 60;

const show = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
