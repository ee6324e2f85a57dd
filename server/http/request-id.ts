// Sets X-Request-ID on every response: that of the caller if it has the documented form, otherwise a new one.
import { randomUUID } from 'node:crypto';
import { maskRuns } from '../resources/payment-methods/rules.ts';
import { isUuid } from '../rules/uuid.ts';
import type { Step } from './step.ts';

const allowed = /^[A-Za-z0-9._:-]{1,128}$/;

/** For logs, which must have no card number; many other long numbers look like one. */
export const loggedId = (id: string): string => (isUuid(id) ? id : maskRuns(id));

export const requestId: Step<{ requestId: string }> = (context, req, res) => {
  const given = req.headers['x-request-id'];
  const id = typeof given === 'string' && allowed.test(given) ? given : randomUUID();
  context.requestId = loggedId(id);
  res.setHeader('X-Request-ID', id);
};
