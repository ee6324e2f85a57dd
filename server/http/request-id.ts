// Sets X-Request-ID on every response: that of the caller if it is safe to log, otherwise a new one.
import { randomUUID } from 'node:crypto';
import type { Step } from './step.ts';

const allowed = /^[A-Za-z0-9._:-]{1,128}$/;

export const requestId: Step<{ requestId: string }> = (context, req, res) => {
  const given = req.headers['x-request-id'];
  context.requestId = typeof given === 'string' && allowed.test(given) ? given : randomUUID();
  res.setHeader('X-Request-ID', context.requestId);
};
