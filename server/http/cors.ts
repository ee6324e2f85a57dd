// Allows calls from every origin, which is safe because access depends on the token and not on cookies. This is the first
// middleware, so that error responses have the headers too and a web page can read them.
import type { RequestHandler } from 'express';

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
