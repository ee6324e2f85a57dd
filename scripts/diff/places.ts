// Which operations and webhooks a change affects, and in which file it is. A shared component is reported once, with its
// users.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { valueAt } from '../../server/kit/contract/load.ts';
import { positionOf, readSource } from '../lint/sources.ts';
import { component, isObject, segments, type Json } from './change.ts';

export type Uses = Map<string, Set<string>>;

/** For each component (`#/components/schemas/Error`), the operations and webhooks that use it, directly or indirectly. */
export function usesOf(contract: Json): Uses {
  const uses: Uses = new Map();
  for (const [place, operation] of operationsOf(contract)) {
    const seen = new Set<string>();
    collect(contract, operation, seen);
    for (const ref of seen) uses.set(ref, (uses.get(ref) ?? new Set()).add(place));
  }
  return uses;
}

/** By place: `GET /transactions`, `webhook transaction.created`. */
export const operationsOf = ({ paths, webhooks }: Json): Map<string, unknown> =>
  new Map([
    ...entries(paths).flatMap(([path, item]) =>
      entries(item).map(([method, one]): [string, unknown] => [`${method.toUpperCase()} ${path}`, one]),
    ),
    ...entries(webhooks).map(([name, item]): [string, unknown] => [`webhook ${name}`, item]),
  ]);

function collect(contract: Json, node: unknown, seen: Set<string>): void {
  if (Array.isArray(node)) for (const item of node) collect(contract, item, seen);
  if (!isObject(node)) return;
  const { $ref } = node;
  if (typeof $ref === 'string' && !seen.has($ref)) {
    seen.add($ref);
    collect(contract, valueAt(contract, $ref), seen);
  }
  for (const item of Object.values(node)) collect(contract, item, seen);
}

const entries = (node: unknown) => (isObject(node) ? Object.entries(node) : []);

const singular: Record<string, string> = {
  securitySchemes: 'security scheme',
  requestBodies: 'request body',
};

export function placeOf(pointer: string): string {
  const [part = 'document', name, child] = segments(pointer);
  if (name === undefined) return part;
  if (part === 'paths') return child === undefined ? name : `${child.toUpperCase()} ${name}`;
  if (part === 'webhooks') return `webhook ${name}`;
  return part === 'components' && child !== undefined
    ? `${singular[name] ?? name.replace(/s$/, '')} ${child}`
    : part;
}

export const usersOf = (pointer: string, uses: Uses) => [...(uses.get(component(pointer)) ?? [])];

/** A single user by name (`GET /transactions`), several as numbers (`5 operations, 2 webhooks`). */
export function summary(users: string[]): string {
  if (users.length <= 1) return users.join('');
  const webhooks = users.filter((user) => user.startsWith('webhook ')).length;
  const numbers = [plural(users.length - webhooks, 'operation'), plural(webhooks, 'webhook')];
  return numbers.filter((text) => !text.startsWith('0 ')).join(', ');
}

export const plural = (amount: number, noun: string) => `${amount} ${noun}${amount === 1 ? '' : 's'}`;

/**
 * The place in the sources of a place in the bundle, as file, line and pointer. The file is named after the component, or after the
 * path with `_` for `/`. The line of what was removed is that of what it was in.
 */
export function sourceOf(pointer: string, root: string): string {
  // The bundle has it as its description.
  const introduction = 'openapi/introduction.md';
  if (pointer === '#/info/description' && existsSync(join(root, introduction)))
    return `${introduction}:1 ${pointer}`;
  const steps = pointer.split('/').slice(1);
  const depth = steps[0] === 'components' ? 3 : 2;
  const own = segments(steps.slice(0, depth).join('/')).map((key) =>
    key.replace(/^\//, '').replaceAll('/', '_'),
  );
  const file = `openapi/${own.join('/')}.yaml`;
  return steps.length >= depth && existsSync(join(root, file))
    ? withLine(file, `#/${steps.slice(depth).join('/')}`, root)
    : withLine('openapi/openapi.yaml', pointer, root);
}

function withLine(file: string, pointer: string, root: string): string {
  const sources = new Map([[file, readSource(join(root, file))]]);
  const path = segments(pointer);
  const lines = [...path, ''].map((_, index) =>
    positionOf(sources, file, path.slice(0, path.length - index)),
  );
  return `${file}:${lines.find((found) => found !== undefined)?.line ?? 1} ${pointer}`;
}
