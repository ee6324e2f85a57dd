// Redocly pairs a removed parameter with a new one in its place, and calls that a rename. It is one only if both accept the same
// values in the same place; otherwise consumers need to know what was removed and what is new.
import { isDeepStrictEqual } from 'node:util';
import { isObject, pointerOf, segments, type Change, type Json, type Side } from './change.ts';
import { at } from './places.ts';

export function splitFalseRenames(changes: Change[], base: Json, revision: Json): Change[] {
  const pairs = changes.flatMap((change) => falsePair(change, base, revision) ?? []);
  const others = changes.filter((change) => !pairs.some((pair) => isWithin(change, pair)));
  return [...others, ...pairs.flatMap(split)];
}

interface Pair {
  path: string;
  base: Side & { value: Json };
  revision: Side & { value: Json };
}

function falsePair(change: Change, base: Json, revision: Json): Pair | undefined {
  if (change.typeName !== 'Parameter' || change.property !== 'name') return undefined;
  const [before, after] = [ownerOf(change.base, base), ownerOf(change.revision, revision)];
  if (!before || !after || isSameParameter(before.value, after.value)) return undefined;
  return { path: change.path, base: before, revision: after };
}

/** The parameter whose name this is. */
function ownerOf(name: Side | undefined, contract: Json): Pair['base'] | undefined {
  const pointer = name?.pointer.replace(/\/name$/, '') ?? '';
  const value = at(contract, pointer);
  return isObject(value) ? { pointer, value } : undefined;
}

function isSameParameter(before: Json, after: Json): boolean {
  if (before.in !== after.in) return false;
  // Callers do not write the name of a path parameter, and header names are equal in any case.
  if (before.in === 'path') return true;
  if (before.in === 'header' && lowerCase(before.name) === lowerCase(after.name)) return true;
  return isDeepStrictEqual([before.schema, before.content], [after.schema, after.content]);
}

const lowerCase = (name: unknown) => String(name).toLowerCase();

/** Not what is written in a component that the parameter refers to, because others may use that too. */
const isWithin = (change: Change, { path, base, revision }: Pair) =>
  [path, base.pointer, revision.pointer].some((place) => `${pointerOf(change)}/`.startsWith(`${place}/`));

/** As Redocly reports and rates them if it does not pair them. */
function split({ path, base, revision }: Pair): Change[] {
  const isSent = segments(path)[0] === 'webhooks';
  const named = ({ value }: Pair['base']) => `\`${String(value.name)}\` ${String(value.in)} parameter`;
  const breaking = (ruleId: string, message: string) => [{ ruleId, impact: 'major' as const, message }];
  return [
    {
      ...{ path, typeName: 'Parameter', kind: 'removed', base },
      verdicts: isSent ? [] : breaking('parameter-removed', `${named(base)} was removed.`),
    },
    {
      ...{ path, typeName: 'Parameter', kind: 'added', revision },
      verdicts:
        isSent || revision.value.required !== true
          ? []
          : breaking('parameter-became-required', `Required ${named(revision)} was added.`),
    },
  ];
}
