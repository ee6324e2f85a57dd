// Before anything is known of the operation: CORS, request ID, path and method, early data. The same checks in the same
// order as server/http/, which the mock may not import; test/mock/ holds the two against each other.
import { randomUUID } from 'node:crypto';
import type { RequestHandler } from 'express';
import { ApiError } from '../../server/errors.ts';
import type { Step } from './visit.ts';

export const cors: RequestHandler = (req, res, next) => {
  res.setHeader('Access-Control-Allow-Origin', '*');
  res.setHeader(
    'Access-Control-Expose-Headers',
    'X-Request-ID, Retry-After, Allow, X-Contract-Example, Preference-Applied',
  );
  const preflight =
    req.method === 'OPTIONS' &&
    req.headers.origin !== undefined &&
    req.headers['access-control-request-method'] !== undefined;
  if (!preflight) {
    next();
    return;
  }
  res.setHeader('Access-Control-Allow-Methods', 'GET, POST');
  res.setHeader(
    'Access-Control-Allow-Headers',
    'Authorization, Content-Type, X-Service-Merchant-Account-ID, X-Request-ID, Prefer',
  );
  res.setHeader('Access-Control-Max-Age', '600');
  res.status(204).end();
};

const sane = /^[A-Za-z0-9._:-]{1,128}$/;

export const requestId: Step = (visit, req, res) => {
  const given = req.headers['x-request-id'];
  visit.requestId = typeof given === 'string' && sane.test(given) ? given : randomUUID();
  res.setHeader('X-Request-ID', visit.requestId);
};

// Compared as text: `//`, `%00`, a trailing slash or another case are simply other paths.
export const route: Step = (visit, req, res) => {
  const [path = ''] = req.url.split('?', 1);
  const here = visit.reading.operations.filter(({ pattern }) => pattern.test(path));
  if (here.length === 0) throw new ApiError(404, { reason: 'unknown path' });
  const allow = here.map(({ method }) => method.toUpperCase()).join(', ');
  const found = here.find(({ method }) => method.toUpperCase() === req.method);
  if (!found) throw new ApiError(405, { reason: `the path has ${allow}`, headers: { Allow: allow } });
  visit.operation = found;
  // For a 405 that is asked for with Prefer.
  res.locals.allow = allow;
};

export const earlyData: Step = (_visit, req) => {
  if (req.method === 'POST' && req.headers['early-data'] === '1')
    throw new ApiError(425, { reason: 'a POST in TLS early data' });
};
