// The errors that an operation declares follow from its input, its scope and its limits. Those that can happen are not reserved.
import { eachOperation, entries, parametersOf } from '../support.js';

/** By status: why it can happen, and the usual file in components/responses. */
function neededBy(operation, ctx) {
  const parameters = parametersOf(operation, ctx).map(({ node }) => node);
  const takes = (name) => parameters.some((parameter) => parameter.name === name);
  const refers =
    ['one', 'many'].includes(operation['x-merchant-scope']) || parameters.some((one) => one.in === 'path');
  const isLimited = operation['x-rate-limit'] ?? operation['x-velocity-limit'];
  const needed = {
    400: ['a request may be malformed', 'BadRequest'],
    401: ['every operation needs a token', 'Unauthorized'],
    403: ['every operation needs a scope', 'Forbidden'],
    405: ['its path may be called with another method', 'MethodNotAllowed'],
    500: ['anything may fail', 'ServerError'],
    504: ['the database may be away', 'GatewayTimeout'],
  };
  if (refers) needed[404] = ['what the request refers to may not exist', 'NotFound'];
  if (takes('Idempotency-Key'))
    needed[422] = ['its Idempotency-Key may belong to another request', 'UnprocessablePaymentMethod'];
  if (takes('cursor')) needed[422] = ['its cursor may belong to another list', 'UnprocessableCursor'];
  if (ctx.key !== 'get') needed[425] = ['it may arrive as early data', 'TooEarly'];
  if (isLimited) needed[429] = ['it has a limit', 'TooManyRequests'];
  return needed;
}

export const errors = () =>
  eachOperation((operation, ctx) => {
    const needed = neededBy(operation, ctx);
    for (const [status, [why, file]] of Object.entries(needed)) {
      if (operation.responses?.[status]) continue;
      ctx.report({
        message: `Declare ${status} (${why}) by $ref, such as to ../components/responses/${file}.yaml.`,
        location: ctx.location.child('responses').key(),
      });
    }
    for (const [status] of entries(operation['x-reserved'])) {
      const [why] = needed[status] ?? [];
      if (why === undefined && operation.responses?.[status]) continue;
      ctx.report({
        message: why
          ? `${status} can happen: ${why}. Do not reserve it.`
          : `Declare ${status}, or do not reserve it.`,
        location: ctx.location.child(['x-reserved', status]),
      });
    }
  });
