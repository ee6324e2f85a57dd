// The last word on every failure: JSON in the contract's shape, with nothing internal in it.
import type { ErrorRequestHandler, Response } from 'express';
import { ApiError, errorBody } from '../errors.ts';

export const writeError: ErrorRequestHandler = (error: unknown, _req, res, next) => {
  if (res.headersSent) {
    // Half an answer is out; only closing the connection can tell the caller that it is not whole.
    next(error);
    return;
  }
  const refused = error instanceof ApiError ? error : new ApiError(500, { cause: error });
  send(res, refused);
};

function send(res: Response, { status, facts }: ApiError): void {
  res.status(status);
  for (const [name, value] of Object.entries(facts.headers ?? {})) res.setHeader(name, value);
  if (status === 401) res.setHeader('WWW-Authenticate', 'Bearer');
  res.json(errorBody(status, facts));
}
