// The one place that sends answers with a JSON body, errors included.
import type { Response } from 'express';
import { type ApiError, errorBody } from '../errors.ts';

interface Answer {
  status: number;
  headers: Readonly<Record<string, string>>;
  /** Empty if the contract declares the response without content. A list is bytes, because the database wrote its items. */
  text: string | Buffer;
}

export function send(res: Response, { status, headers, text }: Answer): void {
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
  res.statusCode = status;
  // A 204, which has neither a type nor a length.
  if (text === '') {
    res.end();
    return;
  }
  res.setHeader('Content-Type', 'application/json; charset=utf-8');
  // With a known length Node writes the head and the body at once.
  res.setHeader('Content-Length', Buffer.byteLength(text));
  res.end(text);
}

export function sendError(
  res: Response,
  { code, status, facts }: ApiError,
  body: object = errorBody(code, facts),
): void {
  if (code === 'unauthorized') res.setHeader('WWW-Authenticate', 'Bearer');
  send(res, { status, headers: facts.headers ?? {}, text: JSON.stringify(body) });
}
