// What `redocly diff` does not see. Nothing here rates a change; it only makes sure that none is missed.
import { isDeepStrictEqual } from 'node:util';
import { isObject, step, type Change, type Json } from './change.ts';
import { at } from './places.ts';

/**
 * Where one side has a `$ref` and the other has not, Redocly follows the reference and forgets what stands beside it.
 * There, the reference is replaced by what it means.
 */
export function align(base: Json, revision: Json): [Json, Json] {
  const contracts = [structuredClone(base), structuredClone(revision)] as [Json, Json];
  alignNodes(...contracts, contracts);
  return contracts;
}

function alignNodes(base: unknown, revision: unknown, contracts: [Json, Json]): void {
  const [left, right] = [children(base), children(revision)];
  for (const key of Object.keys(left)) {
    const [before, after] = [left[key], right[key]];
    if (isObject(before) && isObject(after) && isRef(before) !== isRef(after)) {
      left[key] = meaning(before, contracts[0]);
      right[key] = meaning(after, contracts[1]);
    }
    alignNodes(left[key], right[key], contracts);
  }
}

const isRef = (node: Json) => typeof node.$ref === 'string';

function meaning(node: Json, contract: Json): Json {
  const { $ref, ...beside } = node;
  const target = typeof $ref === 'string' ? at(contract, $ref) : undefined;
  return isObject(target) ? { ...structuredClone(target), ...beside } : node;
}

// Arrays too: they are written through by index.
const children = (node: unknown) => (typeof node === 'object' && node !== null ? (node as Json) : {});

// Redocly compares plain values and lists of them. Objects inside these keywords it passes over.
const passedOver = new Set(['example', 'examples', 'value', 'default', 'const', 'enum']);

export function hidden(base: unknown, revision: unknown, pointer = '#', parent = ''): Change[] {
  const [left, right] = [children(base), children(revision)];
  return Object.keys(left).flatMap((key) => {
    const [before, after, place] = [left[key], right[key], step(pointer, key)];
    // A field may have such a name, and `examples` may be a map of Example objects.
    const isName = parent === 'properties';
    const whole = passedOver.has(key) && !isName && (key !== 'examples' || Array.isArray(before));
    if (!whole) return hidden(before, after, place, isName ? '' : key);
    if (isPlain(before) || isPlain(after) || isDeepStrictEqual(before, after)) return [];
    const sides = { base: { pointer: place, value: before }, revision: { pointer: place, value: after } };
    const typeName = key === 'value' ? 'Example' : 'Schema';
    return [{ path: pointer, typeName, kind: 'modified' as const, property: key, ...sides, verdicts: [] }];
  });
}

const isScalar = (value: unknown) => typeof value !== 'object' || value === null;
const isPlain = (value: unknown) => isScalar(value) || (Array.isArray(value) && value.every(isScalar));

/** The net below everything: equal but for the order of lists and keys, and for the version. */
export const same = (base: Json, revision: Json) =>
  sorted(unversioned(base)) === sorted(unversioned(revision));

const unversioned = (contract: Json) => ({ ...contract, info: { ...children(contract.info), version: '' } });

function sorted(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(sorted).sort().join()}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const pairs = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}:${sorted(item)}`);
  return `{${pairs.sort().join()}}`;
}
