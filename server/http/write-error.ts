// Error middleware: answers with the contract's error body, without internal details, validated like any other answer.
import type { ErrorRequestHandler, Response } from 'express';
import type { Logger } from 'pino';
import type { ResponseCheck } from '../contract/responses.ts';
import { ApiError, errorBody } from '../errors.ts';
import { refusalOf } from './access-log.ts';
import { send } from './answer.ts';
import { partialContextOf } from './step.ts';

export const createWriteError =
  (check: ResponseCheck, log: Logger): ErrorRequestHandler =>
  (error: unknown, _req, res, next) => {
    const { requestId, traceId, operation } = partialContextOf(res);
    if (res.headersSent) {
      // Part of the answer was sent: Express then closes the connection, so the caller sees that it is incomplete.
      next(error);
      return;
    }
    const refused = error instanceof ApiError ? error : new ApiError('server_error', { cause: error });
    const body = errorBody(refused.code, refused.facts);
    const fault = check.fault(operation?.id, refused.status, body);
    partialContextOf(res).refusal = refusalOf(fault ? new ApiError('server_error') : refused);
    const facts = { requestId, traceId, operation: operation?.id, reason: refused.facts.reason };
    // Without this message pino would log that of the error, and a database error may quote request data.
    if (refused.status >= 500 || fault)
      log.error({ ...facts, fault, err: refused.facts.cause ?? refused }, 'the request failed');
    if (fault) sendError(res, new ApiError('server_error'));
    else sendError(res, refused, body);
  };

/** Runs when the error middleware itself fails; Express would answer with an HTML page. */
export const createFallback =
  (log: Logger): ErrorRequestHandler =>
  (error: unknown, _req, res, _next) => {
    const { requestId } = partialContextOf(res);
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
