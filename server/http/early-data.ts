import { ApiError } from '../errors.ts';
import type { Step } from './step.ts';

// RFC 8470: an attacker can replay a request in TLS early data, and only a GET may be executed twice. A malformed
// value counts as 1.
export const earlyData: Step<unknown> = (_context, req) => {
  if (req.method !== 'GET' && req.headers['early-data'] !== undefined)
    throw new ApiError('too_early', { reason: `a ${req.method} in TLS early data` });
};
