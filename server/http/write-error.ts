// Error middleware: answers with the contract's error body, without internal details, validated like any other answer.
import type { ErrorRequestHandler, Response } from 'express';
import type { Logger } from 'pino';
import type { ResponseCheck } from '../contract/responses.ts';
import { ApiError, errorBody } from '../errors.ts';
import { send } from './answer.ts';
import { partialContextOf, type Refusal } from './step.ts';

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

// Why a request was refused, in words for the log. What comes from the caller may be anything, a card number in the wrong
// place included, so only words that look like names of ours are shown.

const mostFaults = 3;
const longestReason = 300;
const longestPath = 100;

// Words of letters, as snake_case, camelCase, kebab-case or the name of a header, with at most two digits. A random secret mixes
// capitals and digits in another way, and no part of a card number, no security code and no PIN is left.
const part = String.raw`(?:[A-Z]?[a-z]+(?:[A-Z][a-z]{2,})*|[A-Z]{1,3})\d?`;
const name = new RegExp(String.raw`^(?=.{1,40}$)(?!(?:.*\d){3})${part}(?:[_-]${part})*$`);
const position = /^\d{0,2}$/;

const shownWords = (path: string, isShown: (word: string) => boolean) =>
  path
    .split('/')
    .map((word) => (isShown(word) ? word : '…'))
    .join('/');

/** Keeps of a pointer to a fault: names of properties and positions in lists. */
const harmless = (pointer: string) => shownWords(pointer, (word) => name.test(word) || position.test(word));

/** A path that the contract does not know. */
export const unknownPath = (url: string): string => {
  const [path = ''] = url.split('?', 1);
  // The contract has no numbers in paths, so a number is something of the caller's.
  const isShown = (word: string) => word === '' || name.test(word);
  return shownWords(path.slice(0, longestPath), isShown) + (path.length > longestPath ? '…' : '');
};

export function refusalOf({ code, facts }: ApiError): Refusal {
  const faults = [
    ...(facts.details ?? []).map(({ pointer, message }) => [harmless(pointer), message]),
    ...(facts.detail ?? []).map(({ loc, msg }) => [harmless(loc.join('/')), msg]),
  ].map((words) => words.join(' ').trim());
  const more = faults.length > mostFaults ? [`and ${faults.length - mostFaults} more`] : [];
  const taken = facts.resourceId ? [`resource_id ${facts.resourceId}`] : [];
  const reason = facts.reason ?? [...faults.slice(0, mostFaults), ...more, ...taken].join('; ');
  return { code, reason: reason.slice(0, longestReason) || undefined };
}
