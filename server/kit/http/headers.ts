// Headers for the safety of every response, and what HTTP itself demands of a request.
import { randomUUID } from 'node:crypto';
import type { RequestHandler, Response } from 'express';
import type { Document } from '../contract/load.ts';
import { ApiError } from '../errors.ts';
import { maskCardNumbers } from '../rules/card-numbers.ts';
import { isUuid } from '../rules/values.ts';
import { check, type Step } from './pipeline.ts';

/** Answers hold personal data, so nothing may store them. Static pages set a Cache-Control of their own. */
export const createSecurityHeaders =
  (isHttps: boolean): RequestHandler =>
  (_req, res, next) => {
    res.setHeader('Cache-Control', 'no-store');
    res.setHeader('X-Content-Type-Options', 'nosniff');
    if (isHttps) res.setHeader('Strict-Transport-Security', 'max-age=31536000');
    next();
  };

/** Node takes the first; a proxy before us may have taken the last. */
export const hasSeveralHosts = (rawHeaders: readonly string[]): boolean =>
  rawHeaders.filter((name, index) => index % 2 === 0 && /^host$/i.test(name)).length > 1;

/** RFC 9110 and 9112. Node would answer these itself, with a status and a shape that the contract does not have. */
export const wellFormed = check('wellFormed', (_known: object, { httpVersion, headers, rawHeaders }) => {
  if (hasSeveralHosts(rawHeaders)) throw new ApiError('bad_request', { reason: 'several Host headers' });
  if (httpVersion === '1.1' && headers.host === undefined)
    throw new ApiError('bad_request', { reason: 'no Host header' });
  if (headers.expect !== undefined && headers.expect.toLowerCase() !== '100-continue')
    throw new ApiError('bad_request', { reason: 'an Expect header other than 100-continue' });
});

// Sets X-Request-ID on every response: that of the caller if it has the documented form, otherwise a new one.
const allowed = /^[A-Za-z0-9._:-]{1,128}$/;

/** For logs, which must have no card number; many other long numbers look like one. */
export const loggedId = (id: string): string => (isUuid(id) ? id : maskCardNumbers(id, 'inside'));

export const requestId: Step<object, { requestId: string }> = (_known, req, res) => {
  const given = req.headers['x-request-id'];
  const id = typeof given === 'string' && allowed.test(given) ? given : randomUUID();
  res.setHeader('X-Request-ID', id);
  return { requestId: loggedId(id) };
};

// RFC 8470: an attacker can replay a request in TLS early data, and only a GET may be executed twice. A malformed
// value counts as 1.
export const earlyData = check('notEarly', (_known: { operation: object }, req) => {
  if (req.method !== 'GET' && req.headers['early-data'] !== undefined)
    throw new ApiError('too_early', { reason: `a ${req.method} in TLS early data` });
});

// Tells callers in the headers of each answer that an operation is deprecated (RFC 9745) and until when it works (RFC 8594).
export function announceDeprecation(
  document: Document,
  { path, method }: { path: string; method: string },
  res: Response,
): void {
  const { 'x-deprecation': deprecation } = document.paths[path]?.[method] ?? {};
  if (!deprecation) return;
  res.setHeader('Deprecation', `@${Date.parse(deprecation.since) / 1000}`);
  res.setHeader('Sunset', new Date(deprecation.sunset).toUTCString());
}

// Allows calls from every origin, which is safe because access depends on the token and not on cookies. It comes before the
// steps that refuse requests, so that error responses have the headers too and a web page can read them.

/** `operations` are those of the contract, whose methods a web page may use. */
export const createCors =
  (operations: () => readonly { method: string }[]): RequestHandler =>
  (req, res, next) => {
    res.setHeader('Access-Control-Allow-Origin', '*');
    res.setHeader(
      'Access-Control-Expose-Headers',
      'X-Request-ID, Retry-After, Allow, Deprecation, Sunset, Idempotency-Replayed, X-Contract-Example, Preference-Applied',
    );
    const preflight =
      req.method === 'OPTIONS' &&
      req.headers.origin !== undefined &&
      req.headers['access-control-request-method'] !== undefined;
    if (!preflight) {
      next();
      return;
    }
    res.setHeader('Access-Control-Allow-Methods', methodsOf(operations()));
    res.setHeader(
      'Access-Control-Allow-Headers',
      'Authorization, Content-Type, X-Service-Merchant-Account-ID, Idempotency-Key, X-Request-ID, Prefer',
    );
    res.setHeader('Access-Control-Max-Age', '600');
    res.status(204).end();
  };

const methodsOf = (operations: readonly { method: string }[]) =>
  [...new Set(operations.map(({ method }) => method.toUpperCase()))].sort().join(', ');
