// The last word on every failure: JSON in the contract's shape, with nothing internal in it, held against the contract like
// any other answer.
import type { ErrorRequestHandler, RequestHandler } from 'express';
import type { Logger } from 'pino';
import type { ResponseCheck } from '../contract/responses.ts';
import { sendError } from './send-error.ts';
import { ApiError, errorBody } from '../errors.ts';
import { contextOf } from './context.ts';

export const createWriteError =
  (check: ResponseCheck, log: Logger): ErrorRequestHandler =>
  (error: unknown, _req, res, next) => {
    const { requestId, operation } = contextOf(res) as Partial<ReturnType<typeof contextOf>>;
    if (res.headersSent) {
      // Half an answer is out; only closing the connection can tell the caller that it is not whole.
      next(error);
      return;
    }
    const refused = error instanceof ApiError ? error : new ApiError(500, { cause: error });
    const body = errorBody(refused.status, refused.facts);
    const fault = check.fault(operation?.id, refused.status, body);
    if (refused.status >= 500 || fault) {
      // With words of our own: pino would repeat those of the error, and the database's may quote what was sent.
      const facts = {
        requestId,
        operation: operation?.id,
        status: refused.status,
        reason: refused.facts.reason,
        fault,
        err: refused.facts.cause ?? refused,
      };
      log.error(facts, 'the request failed');
    } else {
      log.debug({
        requestId,
        operation: operation?.id,
        status: refused.status,
        reason: refused.facts.reason,
      });
    }
    if (fault) sendError(res, new ApiError(500));
    else sendError(res, refused, body);
  };

/** Express would answer with a page of HTML when the error writer itself fails. */
export const lastResort =
  (log: Logger): ErrorRequestHandler =>
  (error: unknown, _req, res, _next) => {
    const { requestId } = contextOf(res) as Partial<ReturnType<typeof contextOf>>;
    log.error({ requestId, err: error }, 'an answer could not be written');
    if (res.headersSent) {
      res.destroy();
      return;
    }
    res.statusCode = 500;
    res.setHeader('Content-Type', 'application/json; charset=utf-8');
    res.end(JSON.stringify(errorBody(500)));
  };

/** A line per request, when it is over. The path without its query: identifiers do not belong in a log. */
export const createAccessLog =
  (log: Logger): RequestHandler =>
  (req, res, next) => {
    const begun = performance.now();
    res.on('close', () => {
      const { requestId, operation, caller } = contextOf(res) as Partial<ReturnType<typeof contextOf>>;
      log.info({
        requestId,
        method: req.method,
        path: operation?.path ?? 'unknown',
        status: res.writableFinished ? res.statusCode : 'aborted',
        ms: Math.round((performance.now() - begun) * 10) / 10,
        keyPair: caller?.keyPairId,
      });
    });
    next();
  };
