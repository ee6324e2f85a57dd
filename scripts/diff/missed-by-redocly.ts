// Finds the changes that `redocly diff` misses. They are rated in impact.ts, like all others.
import { valueAt } from '../../server/kit/contract/load.ts';
import { atKeyword, isObject, segments, step, type Change, type Json } from './change.ts';

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
  const target = typeof $ref === 'string' ? valueAt(contract, $ref) : undefined;
  return isObject(target) ? { ...structuredClone(target), ...siblings } : node;
}

// Includes arrays, whose keys are their indexes.
const children = (node: unknown) => (typeof node === 'object' && node !== null ? (node as Json) : {});

// Of these, Redocly compares scalars and lists of scalars, but no objects. Their content has no keywords.
const values = new Set(['example', 'value', 'default', 'const', 'enum']);

/** Every difference that no reported change is about. The order of lists and keys is none. */
export function missedChanges(base: Json, revision: Json, reported: Change[]): Change[] {
  const known = reported.flatMap((change) =>
    [change.base, change.revision].flatMap((side) => (side ? atKeyword(change, side.pointer) : [])),
  );

  function find(before: unknown, after: unknown, pointer: string, parent: string): Change[] {
    if (sorted(before) === sorted(after) || known.includes(pointer)) return [];
    const isValue = values.has(segments(pointer).at(-1) ?? '') && parent !== 'properties';
    if (isObject(before) && isObject(after) && !isValue)
      return Object.keys({ ...before, ...after }).flatMap((key) =>
        find(before[key], after[key], step(pointer, key), segments(pointer).at(-1) ?? ''),
      );
    return known.some((place) => place.startsWith(`${pointer}/`)) ? [] : [missed(before, after, pointer)];
  }

  return find(base, revision, '#', '');
}

function missed(before: unknown, after: unknown, pointer: string): Change {
  const steps = segments(pointer);
  const typeName =
    (steps.some((name) => name.startsWith('x-')) && 'SpecExtension') ||
    (steps.at(-1) === 'value' ? 'Example' : 'Schema');
  const found = { path: pointer, typeName, verdicts: [] };
  if (before === undefined) return { ...found, kind: 'added', revision: { pointer, value: after } };
  if (after === undefined) return { ...found, kind: 'removed', base: { pointer, value: before } };
  return {
    ...found,
    path: pointer.replace(/\/[^/]*$/, ''),
    kind: 'modified',
    property: steps.at(-1) ?? '',
    base: { pointer, value: before },
    revision: { pointer, value: after },
  };
}

function sorted(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(sorted).sort().join()}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const pairs = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}:${sorted(item)}`);
  return `{${pairs.sort().join()}}`;
}
