// The merchant account. The mock knows the two that every sandbox begins with; any other is answered 404, as there.
import { ApiError } from '../../server/errors.ts';
import type { Step } from './visit.ts';

const known = ['default', 'marketplace'];
const longest = 255;

export const account: Step = (visit, req) => {
  const { merchantScope } = visit.operation;
  const header = req.headers['x-service-merchant-account-id'];
  const named = Array.isArray(header) ? header.join(',') : header;
  if (named !== undefined && (named.length === 0 || named.length > longest))
    throw new ApiError(400, { reason: 'the merchant account header is empty or too long' });
  if (merchantScope === 'none') {
    visit.account = { kind: 'none' };
    return;
  }
  if (named === '*') {
    if (merchantScope !== 'many') throw new ApiError(400, { reason: '* is not for this operation' });
    visit.account = { kind: 'all' };
    return;
  }
  const id = named ?? known[0] ?? '';
  if (!known.includes(id))
    throw new ApiError(404, { reason: `unknown merchant account; the mock has ${known.join(' and ')}` });
  visit.account = { kind: 'one', id };
};
