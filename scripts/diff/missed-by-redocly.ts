// Finds the changes that `redocly diff` misses. They are rated in impact.ts, like all others.
import { isDeepStrictEqual } from 'node:util';
import { isObject, step, type Change, type Json } from './change.ts';
import { at } from './places.ts';

/**
 * If only one side has a `$ref`, Redocly follows it and ignores its sibling keywords. This inlines the reference in such
 * places, so that the siblings are compared too.
 */
export function alignRefs(base: Json, revision: Json): [Json, Json] {
  const contracts = [structuredClone(base), structuredClone(revision)] as [Json, Json];
  alignNodes(...contracts, contracts);
  return contracts;
}

function alignNodes(base: unknown, revision: unknown, contracts: [Json, Json]): void {
  const [left, right] = [children(base), children(revision)];
  for (const key of Object.keys(left)) {
    const [before, after] = [left[key], right[key]];
    if (isObject(before) && isObject(after) && isRef(before) !== isRef(after)) {
      left[key] = inlineRef(before, contracts[0]);
      right[key] = inlineRef(after, contracts[1]);
    }
    alignNodes(left[key], right[key], contracts);
  }
}

const isRef = (node: Json) => typeof node.$ref === 'string';

function inlineRef(node: Json, contract: Json): Json {
  const { $ref, ...siblings } = node;
  const target = typeof $ref === 'string' ? at(contract, $ref) : undefined;
  return isObject(target) ? { ...structuredClone(target), ...siblings } : node;
}

// Includes arrays, whose keys are their indexes.
const children = (node: unknown) => (typeof node === 'object' && node !== null ? (node as Json) : {});

// In these keywords Redocly compares scalars and lists of scalars, but not objects.
const skippedByRedocly = new Set(['example', 'examples', 'value', 'default', 'const', 'enum']);

export function missedChanges(base: unknown, revision: unknown, pointer = '#', parent = ''): Change[] {
  const [left, right] = [children(base), children(revision)];
  return Object.keys(left).flatMap((key) => {
    const [before, after, place] = [left[key], right[key], step(pointer, key)];
    // Under `properties` the key is a field name. `examples` is a keyword value only if it is a list; otherwise it is a map
    // of Example objects.
    const isName = parent === 'properties';
    const isSkipped = skippedByRedocly.has(key) && !isName && (key !== 'examples' || Array.isArray(before));
    if (key === 'x-velocity-limit') return nestedChanges(before, after, place);
    if (!isSkipped) return missedChanges(before, after, place, isName ? '' : key);
    if (isPlain(before) || isPlain(after) || isDeepStrictEqual(before, after)) return [];
    const sides = { base: { pointer: place, value: before }, revision: { pointer: place, value: after } };
    const typeName = key === 'value' ? 'Example' : 'Schema';
    return [{ path: pointer, typeName, kind: 'modified' as const, property: key, ...sides, verdicts: [] }];
  });
}

/** Redocly compares the values of an extension only if they are scalars. */
function nestedChanges(base: unknown, revision: unknown, pointer: string): Change[] {
  const [left, right] = [children(base), children(revision)];
  return Object.keys(left).flatMap((name) => {
    const [before, after, path] = [children(left[name]), children(right[name]), step(pointer, name)];
    return Object.keys(before)
      .filter((property) => property in after && before[property] !== after[property])
      .map((property) => ({
        path,
        typeName: 'SpecExtension',
        kind: 'modified' as const,
        property,
        base: { pointer: step(path, property), value: before[property] },
        revision: { pointer: step(path, property), value: after[property] },
        verdicts: [],
      }));
  });
}

const isScalar = (value: unknown) => typeof value !== 'object' || value === null;
const isPlain = (value: unknown) => isScalar(value) || (Array.isArray(value) && value.every(isScalar));

/** Equal except for the version and the order of lists and keys. The last check that no change was missed. */
export const isEquivalent = (base: Json, revision: Json) =>
  sorted(unversioned(base)) === sorted(unversioned(revision));

const unversioned = (contract: Json) => ({ ...contract, info: { ...children(contract.info), version: '' } });

function sorted(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(sorted).sort().join()}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const pairs = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}:${sorted(item)}`);
  return `{${pairs.sort().join()}}`;
}
