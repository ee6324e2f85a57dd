// Headers for the safety of every response, and what HTTP itself demands of a request.
import type { RequestHandler } from 'express';
import { ApiError } from '../errors.ts';
import type { Step } from './step.ts';

/** Answers hold personal data, so nothing may store them. Static pages set a Cache-Control of their own. */
export const createSecurityHeaders =
  (publicUrl: () => string): RequestHandler =>
  (_req, res, next) => {
    res.setHeader('Cache-Control', 'no-store');
    res.setHeader('X-Content-Type-Options', 'nosniff');
    if (publicUrl().startsWith('https://')) res.setHeader('Strict-Transport-Security', 'max-age=31536000');
    next();
  };

/** Node takes the first; a proxy before us may have taken the last. */
export const hasSeveralHosts = (rawHeaders: readonly string[]): boolean =>
  rawHeaders.filter((name, index) => index % 2 === 0 && /^host$/i.test(name)).length > 1;

/** RFC 9110 and 9112. Node would answer these itself, with a status and a shape that the contract does not have. */
export const wellFormed: Step<unknown> = (_context, { httpVersion, headers, rawHeaders }) => {
  if (hasSeveralHosts(rawHeaders)) throw new ApiError('bad_request', { reason: 'several Host headers' });
  if (httpVersion === '1.1' && headers.host === undefined)
    throw new ApiError('bad_request', { reason: 'no Host header' });
  if (headers.expect !== undefined && headers.expect.toLowerCase() !== '100-continue')
    throw new ApiError('bad_request', { reason: 'an Expect header other than 100-continue' });
};
