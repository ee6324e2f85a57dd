// Helpers shared by the rules. They must not throw on malformed contracts: Redocly's `struct` rule reports those, and an
// exception would hide its message.

export const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
export const list = (value) => (Array.isArray(value) ? value : []);
export const entries = (value) => (isObject(value) ? Object.entries(value) : []);
export const isText = (value) => typeof value === 'string' && value.trim().length > 0;

/** Resolves `value` if it is a $ref. Node and location are undefined if the $ref cannot be resolved. */
export function follow(value, location, ctx) {
  if (typeof value?.$ref !== 'string') return { node: value, location };
  return ctx.resolve(value, location.source.absoluteRef);
}

/** Visits the operations of `paths`, not those of webhooks, which the receiver implements. `parents` has the path item. */
export const eachOperation = (visit) => ({ Paths: { PathItem: { Operation: visit } } });

/** The parameters of an operation, including those of its path item. */
export function parametersOf(operation, ctx, parents) {
  const own = list(operation.parameters).map((value, index) => [
    value,
    ctx.location.child(['parameters', index]),
  ]);
  const shared = list(parents.PathItem?.parameters).map((value, index) => [
    value,
    ctx.parentLocations.PathItem.child(['parameters', index]),
  ]);
  return [...own, ...shared]
    .map(([value, location]) => follow(value, location, ctx))
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
