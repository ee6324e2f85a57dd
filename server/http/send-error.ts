import type { Response } from 'express';
import { errorBody, type ApiError } from '../errors.ts';

export function sendError(
  res: Response,
  { code, status, facts }: ApiError,
  body: object = errorBody(code, facts),
): void {
  for (const [name, value] of Object.entries(facts.headers ?? {})) res.setHeader(name, value);
  if (code === 'unauthorized') res.setHeader('WWW-Authenticate', 'Bearer');
  res.status(status).json(body);
}
