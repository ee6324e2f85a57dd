// The last middleware: turns everything that was thrown into an error response.
import type { ErrorRequestHandler } from 'express';
import { ApiError } from '../../server/kit/errors.ts';
import { sendError } from '../../server/kit/http/write-error.ts';
import { trailOf } from './known.ts';

export const writeError: ErrorRequestHandler = (error: unknown, _req, res, next) => {
  if (res.headersSent) {
    next(error);
    return;
  }
  const apiError = error instanceof ApiError ? error : new ApiError('server_error', { cause: error });
  trailOf(res).why = whyRefused(apiError);
  sendError(res, apiError);
};

export function whyRefused({ facts, cause }: ApiError): string {
  if (facts.reason !== undefined) return facts.reason;
  if (facts.details)
    return facts.details
      .map(({ location, pointer, message }) => `${location}${pointer && ` ${pointer}`} ${message}`)
      .join('; ');
  if (facts.detail) return facts.detail.map(({ loc, msg }) => `${loc.join(' ')} ${msg}`).join('; ');
  return cause instanceof Error ? (cause.stack ?? cause.message) : 'refused';
}
