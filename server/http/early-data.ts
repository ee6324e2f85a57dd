import { ApiError } from '../errors.ts';
import type { Step } from './context.ts';

// RFC 8470: a request in TLS early data can be replayed, and a POST must not happen twice.
export const earlyData: Step = (_context, req) => {
  if (req.method === 'POST' && req.headers['early-data'] === '1') throw new ApiError(425);
};
