// A POST or PATCH that writes can be repeated safely: it takes an Idempotency-Key, and its answers say whether they are
// repeated. PUT and DELETE are idempotent by definition (RFC 9110).
import { eachOperation, entries, list, parametersOf, responsesOf } from '../support.js';

const key = 'Idempotency-Key';
const mark = 'Idempotency-Replayed';

/** Answers that are kept, and 500 and 504, which tell the client that its key was understood. */
const isMarked = (status) => /^2/.test(status) || ['404', '409', '422', '500', '504'].includes(status);

const writes = (operation, ctx) =>
  ['post', 'patch'].includes(ctx.key) &&
  list(operation.security).some((one) => entries(one).some(([, scopes]) => list(scopes).some(isWrite)));
const isWrite = (scope) => String(scope).endsWith('.write');

export const idempotencyKey = () =>
  eachOperation((operation, ctx) => {
    const { operationId } = operation;
    const taken = parametersOf(operation, ctx).find(({ node }) => node.in === 'header' && node.name === key);
    const isTaken = taken !== undefined;
    if (isTaken !== writes(operation, ctx))
      ctx.report({
        message: isTaken
          ? `${operationId} can be repeated without a key, as it is no POST or PATCH with the scope "<resource>.write": remove ${key}.`
          : `${operationId} writes: add the parameter ${key} by $ref to components/parameters/IdempotencyKey.yaml.`,
        location: ctx.location.child('parameters').key(),
      });
    if (!isTaken) return;
    if ('example' in taken.node)
      ctx.report({
        message: `Remove the example of ${key}: tools send it as it is, and two requests with one key get one response, or 422.`,
        location: taken.location.child('example').key(),
      });
    for (const { status, node, location } of responsesOf(operation, ctx)) {
      if (!isMarked(status) || entries(node.headers).some(([name]) => name === mark)) continue;
      const place = node.headers ? location.child('headers') : location;
      ctx.report({
        message: `Add the header ${mark} to this ${status}, by $ref to components/headers.`,
        location: place.key(),
      });
    }
  });
