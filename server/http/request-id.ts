// Sets X-Request-ID on every response: that of the caller if it is safe to log, otherwise a new one.
import { randomUUID } from 'node:crypto';
import { passesLuhn } from '../domain/cards.ts';
import { isUuid } from '../domain/uuid.ts';
import type { Step } from './step.ts';

const allowed = /^[A-Za-z0-9._:-]{1,128}$/;

export const requestId: Step<{ requestId: string }> = (context, req, res) => {
  const given = req.headers['x-request-id'];
  const isSafe = typeof given === 'string' && allowed.test(given) && !holdsCardNumber(given);
  context.requestId = isSafe ? given : randomUUID();
  res.setHeader('X-Request-ID', context.requestId);
};

/** Request IDs are logged, card numbers must not be: looked for in each group of digits and across separators. */
const holdsCardNumber = (text: string): boolean =>
  !isUuid(text) &&
  [...(text.match(/\d+/g) ?? []), ...(text.match(/\d(?:[._:-]?\d)+/g) ?? [])].some((run) => {
    const digits = run.replace(/\D/g, '');
    for (let length = 13; length <= 19; length += 1)
      for (let start = 0; start + length <= digits.length; start += 1)
        if (passesLuhn(digits.slice(start, start + length))) return true;
    return false;
  });
