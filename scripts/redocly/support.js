// What several rules need. Every helper takes malformed contracts calmly: to say that something has the wrong type is the
// business of Redocly's own `struct` rule, and a rule of ours that throws would hide its message.

export const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
export const list = (value) => (Array.isArray(value) ? value : []);
export const entries = (value) => (isObject(value) ? Object.entries(value) : []);
export const isText = (value) => typeof value === 'string' && value.trim().length > 0;
export const isSnakeCase = (name) => /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/.test(name);

/** What stands at `location`, behind its $ref if it is one. Node and location are undefined when the $ref leads nowhere. */
export function follow(value, location, ctx) {
  if (typeof value?.$ref !== 'string') return { node: value, location };
  return ctx.resolve(value, location.source.absoluteRef);
}

/** Visits the operations of `paths` (not webhooks, which others answer); `parents` holds the path item. */
export const eachOperation = (visit) => ({ Paths: { PathItem: { Operation: visit } } });

/** The parameters of an operation, those of its path item included. */
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

/** The responses of an operation behind their $refs, with the status of each. */
export function responsesOf(operation, ctx) {
  return entries(operation.responses)
    .map(([status, value]) => ({
      status,
      ...follow(value, ctx.location.child(['responses', status]), ctx),
    }))
    .filter(({ node }) => isObject(node));
}

export const isError = (status) => !/^[123]/.test(status);

/** Reports each fault once, however many operations share the component that has it. */
export function once() {
  const seen = new Set();
  return (ctx, message, location) => {
    const fault = `${location.source.absoluteRef}${location.pointer} ${message}`;
    if (seen.has(fault)) return;
    seen.add(fault);
    ctx.report({ message, location });
  };
}
