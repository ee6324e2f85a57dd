// The last word on every failure, and the line in the terminal.
import type { ErrorRequestHandler, RequestHandler } from 'express';
import { sendError } from '../../server/http/send-error.ts';
import { ApiError } from '../../server/errors.ts';
import { visitOf } from './context.ts';

export const writeError: ErrorRequestHandler = (error: unknown, _req, res, next) => {
  if (res.headersSent) {
    next(error);
    return;
  }
  const visit = visitOf(res);
  const refused = error instanceof ApiError ? error : new ApiError('server_error', { cause: error });
  visit.why = reasonOf(refused);
  sendError(res, refused);
};

function reasonOf({ facts, cause }: ApiError): string {
  if (facts.reason !== undefined) return facts.reason;
  if (facts.details)
    return facts.details
      .map(({ location, pointer, message }) => `${location}${pointer && ` ${pointer}`} ${message}`)
      .join('; ');
  if (facts.detail) return facts.detail.map(({ loc, msg }) => `${loc.join(' ')} ${msg}`).join('; ');
  return cause instanceof Error ? (cause.stack ?? cause.message) : 'refused';
}

const longest = 400;

/** One line per request: what was answered, and why. The path without its query: card numbers do not belong in a terminal. */
export const createRequestLog =
  (log: (line: string) => void): RequestHandler =>
  (req, res, next) => {
    const begun = performance.now();
    const [path = ''] = req.url.split('?', 1);
    res.on('close', () => {
      const { why } = visitOf(res) as { why?: string };
      const status = res.writableFinished ? String(res.statusCode) : 'aborted';
      const ms = Math.round(performance.now() - begun);
      log(plain(`${req.method} ${path} → ${status} (${why ?? 'preflight'}) ${ms} ms`));
    });
    next();
  };

/** Names and paths come from strangers; what steers a terminal is not let through. */
const plain = (line: string) => {
  // eslint-disable-next-line no-control-regex -- these are what is looked for
  const safe = line.replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ');
  return safe.length > longest ? `${safe.slice(0, longest)}…` : safe;
};
