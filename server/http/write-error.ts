// Answers every failure: JSON in the contract's shape, with nothing internal in it, held against the contract like any other
// answer.
import type { ErrorRequestHandler } from 'express';
import type { Logger } from 'pino';
import type { ResponseCheck } from '../contract/responses.ts';
import { ApiError, errorBody } from '../errors.ts';
import { partialContextOf } from './context.ts';
import { sendError } from './send-error.ts';

export const createWriteError =
  (check: ResponseCheck, log: Logger): ErrorRequestHandler =>
  (error: unknown, _req, res, next) => {
    const { requestId, operation } = partialContextOf(res);
    if (res.headersSent) {
      // Half of the answer is sent; only closing the connection tells the caller that it is incomplete.
      next(error);
      return;
    }
    const refused = error instanceof ApiError ? error : new ApiError('server_error', { cause: error });
    const body = errorBody(refused.code, refused.facts);
    const fault = check.fault(operation?.id, refused.status, body);
    const facts = {
      requestId,
      operation: operation?.id,
      status: refused.status,
      reason: refused.facts.reason,
    };
    // With a message of our own: pino would repeat the error's, and the database's may quote what was sent.
    if (refused.status >= 500 || fault)
      log.error({ ...facts, fault, err: refused.facts.cause ?? refused }, 'the request failed');
    else log.debug(facts);
    if (fault) sendError(res, new ApiError('server_error'));
    else sendError(res, refused, body);
  };

/** When the error writer itself fails, Express would answer with a page of HTML. */
export const createFallback =
  (log: Logger): ErrorRequestHandler =>
  (error: unknown, _req, res, _next) => {
    const { requestId } = partialContextOf(res);
    log.error({ requestId, err: error }, 'an answer could not be written');
    if (res.headersSent) {
      res.destroy();
      return;
    }
    res.statusCode = 500;
    res.setHeader('Content-Type', 'application/json; charset=utf-8');
    res.end(JSON.stringify(errorBody('server_error')));
  };
