import type { Response } from 'express';
import { errorBody, type ApiError } from '../errors.ts';

export function sendError(
  res: Response,
  { status, facts }: ApiError,
  body: object = errorBody(status, facts),
): void {
  for (const [name, value] of Object.entries(facts.headers ?? {})) res.setHeader(name, value);
  if (status === 401) res.setHeader('WWW-Authenticate', 'Bearer');
  res.status(status).json(body);
}
