// Helpers shared by the rules. They must not throw on malformed contracts: Redocly's `struct` rule reports those, and an
// exception would hide its message.

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
