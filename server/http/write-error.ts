// Error middleware: answers with the contract's error body, without internal details, validated like any other answer.
import type { ErrorRequestHandler, Response } from 'express';
import type { Logger } from 'pino';
import type { Operation } from '../../generated/operations.ts';
import type { ResponseCheck } from '../contract/responses.ts';
import { ApiError, errorBody } from '../errors.ts';
import { Crowded } from '../faults.ts';
import { refusalOf } from './access-log.ts';
import { send } from './answer.ts';
import { trailOf } from './known.ts';

export const createWriteError =
  (check: ResponseCheck, log: Logger): ErrorRequestHandler =>
  (error: unknown, _req, res, next) => {
    const { requestId, traceId, operation } = trailOf(res);
    if (res.headersSent) {
      // Part of the answer was sent: Express then closes the connection, so the caller sees that it is incomplete.
      next(error);
      return;
    }
    const refused = refusalFor(error, operation);
    const body = errorBody(refused.code, refused.facts);
    const fault = check.fault(operation?.id, refused.status, body);
    trailOf(res).refusal = refusalOf(fault ? new ApiError('server_error') : refused);
    const facts = { requestId, traceId, operation: operation?.id, reason: refused.facts.reason };
    // Without this message pino would log that of the error, and a database error may quote request data.
    if (refused.status >= 500 || fault)
      log.error({ ...facts, fault, err: refused.facts.cause ?? refused }, 'the request failed');
    if (fault) sendError(res, new ApiError('server_error'));
    else sendError(res, refused, body);
  };

/** Other operations have no limit on calls: there, a caller whose requests are too slow for each other gets a 500. */
function refusalFor(error: unknown, operation: Operation | undefined): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof Crowded && (operation?.rateLimit ?? operation?.velocityLimit))
    return new ApiError('too_many_requests', { reason: error.message, headers: { 'Retry-After': '1' } });
  return new ApiError('server_error', { cause: error });
}

/** Runs when the error middleware itself fails; Express would answer with an HTML page. */
export const createFallback =
  (log: Logger): ErrorRequestHandler =>
  (error: unknown, _req, res, _next) => {
    const { requestId } = trailOf(res);
    log.error({ requestId, err: error }, 'the error response could not be written');
    if (res.headersSent) {
      res.destroy();
      return;
    }
    res.statusCode = 500;
    res.setHeader('Content-Type', 'application/json; charset=utf-8');
    res.end(JSON.stringify(errorBody('server_error')));
  };

export function sendError(
  res: Response,
  { code, status, facts }: ApiError,
  body: object = errorBody(code, facts),
): void {
  if (code === 'unauthorized') res.setHeader('WWW-Authenticate', 'Bearer');
  send(res, { status, headers: facts.headers ?? {}, text: JSON.stringify(body) });
}
