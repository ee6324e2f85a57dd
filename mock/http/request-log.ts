// One line per request in the terminal: the status, and why. Without the query string, which may contain card data.
import type { RequestHandler } from 'express';
import { shownQuery, unknownPath } from '../../server/kit/http/access-log.ts';
import type { RequestFeed } from '../../server/kit/http/dashboard/feed.ts';
import { trailOf } from './known.ts';

const maxLength = 400;

/** A call of an operation, for tests of whoever called. */
export interface RecordedRequest {
  operation: string;
  method: string;
  /** With the query. */
  path: string;
  /** By their names in lower case. */
  headers: Record<string, string>;
  body: unknown;
  status: number | 'aborted';
}

const secret = /auth|cookie|token|secret|password|api-?key|session|jwt|signature|credential/;

/** Headers are masked when a test reads them, and not when the request arrives, because most are never read. */
export const maskSecrets = (request: RecordedRequest): RecordedRequest => {
  const headers = Object.entries(request.headers).map(([name, value]) => [
    name,
    secret.test(name) ? '********' : value,
  ]);
  return { ...request, headers: Object.fromEntries(headers) as Record<string, string> };
};

export const createRequestLog =
  (
    log: (line: string) => void,
    note?: RequestFeed['note'],
    record?: (request: RecordedRequest) => void,
  ): RequestHandler =>
  (req, res, next) => {
    const start = performance.now();
    const [path = ''] = req.url.split('?', 1);
    // Copied now, because the steps that follow change them.
    const headers = record && ({ ...req.headers } as Record<string, string>);
    res.on('close', () => {
      const { why, operation, requestId } = trailOf(res);
      const status = res.writableFinished ? res.statusCode : 'aborted';
      const ms = Math.round(performance.now() - start);
      const known = operation?.path ?? unknownPath(req.originalUrl);
      const isCall = operation !== undefined || res.statusCode >= 400;
      if (isCall)
        note?.({
          requestId,
          operation: operation?.id,
          method: req.method,
          path: known,
          query: operation && shownQuery(req.originalUrl),
          status,
          reason: why,
          ms,
        });
      const { method, originalUrl, body } = req as { method: string; originalUrl: string; body?: unknown };
      if (operation && headers)
        record({ operation: operation.id, method, path: originalUrl, headers, body: body ?? null, status });
      // Not what is served from files.
      if (isCall || !['GET', 'HEAD'].includes(req.method))
        log(printable(`${req.method} ${path} → ${status} (${why ?? 'preflight'}) ${ms} ms`));
    });
    next();
  };

/** Paths and property names come from the caller, so terminal control characters are removed. */
const printable = (line: string) => {
  // oxlint-disable-next-line no-control-regex -- matching control characters is the purpose
  const safe = line.replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ');
  return safe.length > maxLength ? `${safe.slice(0, maxLength)}…` : safe;
};
