// The responses of every operation: all errors that can happen, in one shape, with the required headers.
import { STATUS_CODES } from 'node:http';
import { basename } from 'node:path';
import {
  eachOperation,
  entries,
  follow,
  isError,
  isObject,
  isText,
  once,
  parametersOf,
  responsesOf,
} from '../support.js';

/** The usual file in components/responses; an operation with errors of its own has another. */
const sharedFiles = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  422: 'UnprocessableCursor',
  425: 'TooEarly',
  429: 'TooManyRequests',
  500: 'ServerError',
};

export const sharedErrors = () =>
  eachOperation((operation, ctx, parents) => {
    const parameters = parametersOf(operation, ctx, parents).map(({ node }) => node);
    const has = (place) => parameters.some((parameter) => parameter.in === place);
    const needed = {
      400: (parameters.length > 0 || operation.requestBody) && 'it has input',
      401: 'every operation needs a token',
      403: 'every operation needs a scope',
      404:
        (['one', 'many'].includes(operation['x-merchant-scope']) || has('path')) &&
        'what the request refers to may not exist',
      405: 'its path may be called with another method',
      422: parameters.some(({ name }) => name === 'cursor') && 'its cursor may belong to another list',
      425: ctx.key !== 'get' && `a ${ctx.key.toUpperCase()} may arrive as early data`,
      429: (operation['x-rate-limit'] ?? operation['x-velocity-limit']) && 'it has a rate limit',
      500: 'anything may fail',
    };
    const reserved = isObject(operation['x-reserved']) ? operation['x-reserved'] : {};
    const missing = Object.entries(needed).filter(
      ([status, why]) => why && (!operation.responses?.[status] || status in reserved),
    );
    if (missing.length > 0)
      ctx.report({
        message: `Declare ${missing.map(([status, why]) => `${status} (${why})`).join(', ')} by $ref to ${missing.map(([status]) => `../components/responses/${sharedFiles[status]}.yaml`).join(', ')}, and do not reserve ${missing.length === 1 ? 'it' : 'them'}.`,
        location: ctx.location.child('responses').key(),
      });
    for (const [status, response] of entries(operation.responses)) {
      if (!isError(status) || isText(response?.$ref)) continue;
      ctx.report({
        message: `Errors are shared: declare ${status} by $ref to a file in components/responses.`,
        location: ctx.location.child(['responses', status]).key(),
      });
    }
  });

export const content = () => {
  const report = once();
  return eachOperation((operation, ctx) => {
    for (const { status, node, location } of responsesOf(operation, ctx)) {
      if (isError(status) || (status === '204') === (node.content === undefined)) continue;
      report(
        ctx,
        status === '204'
          ? 'A 204 has no body: remove its content, or declare 200.'
          : `A ${status} has a body: give it content, or declare 204 instead.`,
        location.key(),
      );
    }
  });
};

const errorSchemas = { 409: 'ConflictError', 422: 'ValidationError' };

export const errorSchema = () => {
  const report = once();
  return eachOperation((operation, ctx) => {
    for (const { status, node, location } of responsesOf(operation, ctx)) {
      const expected = errorSchemas[status] ?? 'Error';
      const schema = node.content?.['application/json']?.schema;
      const target = schema && follow(schema, location, ctx).location;
      if (!isError(status) || (isText(schema?.$ref) && !target)) continue;
      if (isText(schema?.$ref) && basename(target.source.absoluteRef, '.yaml') === expected) continue;
      const place = schema ? location.child(['content', 'application/json', 'schema']) : location;
      report(
        ctx,
        `Clients parse every ${status} the same way: give it the schema ../schemas/${expected}.yaml.`,
        place.key(),
      );
    }
  });
};

export const responseStatus = () => {
  const report = once();
  return eachOperation((operation, ctx) => {
    for (const { status, node, location } of responsesOf(operation, ctx)) {
      if (!(status in STATUS_CODES))
        report(
          ctx,
          `HTTP defines no status ${status}: declare one that clients know, such as 409.`,
          ctx.location.child(['responses', status]).key(),
        );
      for (const [name, example] of entries(node.content?.['application/json']?.examples)) {
        const shown = follow(example, location, ctx).node?.value?.status;
        // Only errors show their status as a number.
        if (typeof shown !== 'number' || String(shown) === status) continue;
        report(
          ctx,
          `This response is a ${status}, and the status of its example "${name}" is ${shown}: correct the example, or move it to a ${shown}.`,
          location.child(['content', 'application/json', 'examples', name]).key(),
        );
      }
    }
  });
};

const requiredHeaders = { 401: ['WWW-Authenticate'], 405: ['Allow'], 429: ['Retry-After'] };

export const responseHeaders = () => {
  const report = once();
  return eachOperation((operation, ctx) => {
    for (const { status, node, location } of responsesOf(operation, ctx)) {
      const present = entries(node.headers).map(([name]) => name.toLowerCase());
      for (const name of ['X-Request-ID', ...(requiredHeaders[status] ?? [])]) {
        if (present.includes(name.toLowerCase())) continue;
        const place = node.headers ? location.child('headers') : location;
        report(ctx, `Add the header ${name} to this ${status}, by $ref to components/headers.`, place.key());
      }
    }
  });
};
