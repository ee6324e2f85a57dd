// Helpers shared by the rules. They must not throw on malformed contracts: Redocly's `struct` rule reports those, and an
// exception would hide its message.
import { basename } from 'node:path';

export const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
export const list = (value) => (Array.isArray(value) ? value : []);
export const entries = (value) => (isObject(value) ? Object.entries(value) : []);
export const isText = (value) => typeof value === 'string' && value.trim().length > 0;
export const isSnakeCase = (name) => /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/.test(name);

/** Resolves `value` if it is a $ref. Node and location are undefined if the $ref cannot be resolved. */
export function follow(value, location, ctx) {
  if (typeof value?.$ref !== 'string') return { node: value, location };
  return ctx.resolve(value, location.source.absoluteRef);
}

/** The name of the schema that is here, or that this is a part of. In a bundle it has no file. */
export function schemaNameAt({ pointer, source }) {
  const [, inBundle] = /^#\/components\/schemas\/([^/]+)/.exec(pointer) ?? [];
  return inBundle ?? basename(source.absoluteRef, '.yaml');
}

/** Visits the operations of `paths`, not those of webhooks, which the receiver implements. */
export const eachOperation = (visit) => ({ Paths: { PathItem: { Operation: visit } } });

/** The parameters of an operation, $refs resolved. */
export function parametersOf(operation, ctx) {
  return list(operation.parameters)
    .map((value, index) => follow(value, ctx.location.child(['parameters', index]), ctx))
    .filter(({ node }) => isObject(node));
}

/** The responses of an operation with their status, $refs resolved. */
export function responsesOf(operation, ctx) {
  return entries(operation.responses)
    .map(([status, value]) => ({
      status,
      ...follow(value, ctx.location.child(['responses', status]), ctx),
    }))
    .filter(({ node }) => isObject(node));
}

/**
 * The schema, $ref resolved, and every schema in it, each with its location; those in `seen` are left out. Redocly's nested
 * visitors stop at the first schema below a parameter or body.
 */
export function* schemasIn(value, location, ctx, seen) {
  const { node, location: place } = follow(value, location, ctx);
  if (!isObject(node) || seen.has(node)) return;
  seen.add(node);
  yield [node, place];
  for (const key of ['items', 'additionalProperties', 'propertyNames', 'contains', 'then', 'else']) {
    if (isObject(node[key])) yield* schemasIn(node[key], place.child(key), ctx, seen);
  }
  for (const key of ['anyOf', 'oneOf', 'allOf', 'prefixItems']) {
    for (const [index, branch] of list(node[key]).entries()) {
      yield* schemasIn(branch, place.child([key, index]), ctx, seen);
    }
  }
  for (const [name, property] of entries(node.properties)) {
    yield* schemasIn(property, place.child(['properties', name]), ctx, seen);
  }
}

/** The schemas of the media types of a body or a response, each with its location. */
export const bodiesOf = ({ node, location }) =>
  entries(node.content).map(([type, media]) => [media?.schema, location.child(['content', type, 'schema'])]);
