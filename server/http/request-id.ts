// Every response carries X-Request-ID: the caller's, if it is a sane one, otherwise made here.
import { randomUUID } from 'node:crypto';
import type { Step } from './step.ts';

const sane = /^[A-Za-z0-9._:-]{1,128}$/;

export const requestId: Step<{ requestId: string }> = (context, req, res) => {
  const given = req.headers['x-request-id'];
  context.requestId = typeof given === 'string' && sane.test(given) ? given : randomUUID();
  res.setHeader('X-Request-ID', context.requestId);
};
