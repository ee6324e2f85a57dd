// Sets X-Request-ID on every response: that of the caller if it is safe to log, otherwise a new one.
import { randomUUID } from 'node:crypto';
import { holdsCardNumber } from '../domain/cards.ts';
import { isUuid } from '../domain/uuid.ts';
import type { Step } from './step.ts';

const allowed = /^[A-Za-z0-9._:-]{1,128}$/;

export const requestId: Step<{ requestId: string }> = (context, req, res) => {
  const given = req.headers['x-request-id'];
  // Request IDs are logged, card numbers must not be.
  const isSafe =
    typeof given === 'string' && allowed.test(given) && (isUuid(given) || !holdsCardNumber(given));
  context.requestId = isSafe ? given : randomUUID();
  res.setHeader('X-Request-ID', context.requestId);
};
