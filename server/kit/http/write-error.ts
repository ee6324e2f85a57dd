// Error middleware: answers with the contract's error body, without internal details, validated like any other answer.
import type { ErrorRequestHandler, Response } from 'express';
import type { Logger } from 'pino';
import type { Operation } from '../../../generated/operations.ts';
import type { ResponseCheck } from '../contract/responses.ts';
import { ApiError, errorBody } from '../errors.ts';
import { Overloaded, isOutage, reasonOf } from '../faults.ts';
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
    const fault = check.fault(operation?.id, refused.status, errorBody(refused.code, refused.facts));
    const sent = fault ? new ApiError('server_error') : refused;
    trailOf(res).refusal = refusalOf(sent);
    const { reason, cause: err = refused } = refused.facts;
    const facts = { requestId, traceId, operation: operation?.id, reason, fault, err };
    const isLater = sent.code === 'gateway_timeout';
    // An outage is part of the line in the access log, unless that was written when the caller left.
    if (isLater && !res.closed) trailOf(res).outage = err;
    // Without a message pino would log that of the error, which may quote request data.
    else if (sent.status >= 500) log[isLater ? 'warn' : 'error'](facts, 'the request failed');
    sendError(res, sent);
  };

/** Only operations with a limit tell a caller that its requests are too slow for each other. */
const isLimited = ({ statuses, reserved }: Operation): boolean =>
  statuses.includes(429) && !reserved.includes(429);

function refusalFor(error: unknown, operation: Operation | undefined): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof Overloaded && operation && isLimited(operation))
    return new ApiError('too_many_requests', { reason: error.message, headers: { 'Retry-After': '1' } });
  if (isOutage(error)) return new ApiError('gateway_timeout', { reason: reasonOf(error), cause: error });
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

export function sendError(res: Response, { code, status, facts }: ApiError): void {
  if (code === 'unauthorized') res.setHeader('WWW-Authenticate', 'Bearer');
  // The second repetition of our client then comes after a failover of a few seconds.
  if (code === 'gateway_timeout') res.setHeader('Retry-After', '2');
  send(res, { status, headers: facts.headers ?? {}, text: JSON.stringify(errorBody(code, facts)) });
}
