// The merchant account that a request acts upon. An account that does not exist and one that the caller may not reach
// answer alike, so that nobody can find out which accounts there are.
import type { Operation } from '../../generated/operations.ts';
import { ApiError } from '../errors.ts';
import type { Context, Step } from './context.ts';

export interface MerchantAccountDeps {
  first: (own: readonly string[]) => Promise<{ id: string } | undefined>;
  find: (own: readonly string[], id: string) => Promise<{ id: string } | undefined>;
}

const longest = 255;

export const createMerchantAccount =
  ({ first, find }: MerchantAccountDeps): Step =>
  async (context: Context, req) => {
    const { merchantScope, method }: Operation = context.operation;
    const own = context.caller.merchantAccountIds;
    const header = req.headers['x-service-merchant-account-id'];
    const named = Array.isArray(header) ? header.join(',') : header;
    // A header has no location in an error's details, so there is nothing to point at.
    if (named !== undefined && (named.length === 0 || named.length > longest)) throw new ApiError(400);
    if (merchantScope === 'none') {
      context.selection = { kind: 'none' };
      return;
    }
    if (named === '*') {
      if (merchantScope !== 'many') throw new ApiError(400, { reason: '* is not for this operation' });
      // What writes for all accounts, also for those to come, takes a pair that reaches all of them.
      if (method !== 'get' && own.length > 0)
        throw new ApiError(403, { reason: '* takes access to all merchant accounts' });
      context.selection = { kind: 'all' };
      return;
    }
    const account = await (named === undefined ? first(own) : find(own, named));
    if (!account) throw new ApiError(404, { reason: 'unknown merchant account, or out of reach' });
    context.selection = { kind: 'one', id: account.id };
  };
