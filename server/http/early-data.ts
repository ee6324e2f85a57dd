import { ApiError } from '../errors.ts';
import type { Step } from './step.ts';

// RFC 8470: an attacker can replay a request in TLS early data, and a POST must not be executed twice. A malformed value
// counts as 1.
export const earlyData: Step<unknown> = (_context, req) => {
  if (req.method === 'POST' && req.headers['early-data'] !== undefined)
    throw new ApiError('too_early', { reason: 'a POST in TLS early data' });
};
