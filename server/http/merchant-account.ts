// The merchant account that a request acts upon. An account that does not exist and one that the caller may not reach
// answer alike, so that nobody can find out which accounts there are.
import type { Operation } from '../../generated/operations.ts';
import { ApiError } from '../errors.ts';
import type { Step } from './step.ts';

/** The merchant account that a request acts upon: one, or with `*` all that the caller reaches. */
export type Selection = { kind: 'none' } | { kind: 'one'; id: string } | { kind: 'all' };

interface Context {
  operation: Pick<Operation, 'merchantScope' | 'method'>;
  /** The merchant accounts that the caller reaches; empty means all. */
  caller: { merchantAccountIds: readonly string[] };
  selection: Selection;
}

export interface MerchantAccountDeps {
  first: (own: readonly string[]) => Promise<{ id: string } | undefined>;
  find: (own: readonly string[], id: string) => Promise<{ id: string } | undefined>;
}

const longest = 255;

export const createMerchantAccount =
  ({ first, find }: MerchantAccountDeps): Step<Context> =>
  async (context, req) => {
    const { merchantScope, method } = context.operation;
    const own = context.caller.merchantAccountIds;
    const header = req.headers['x-service-merchant-account-id'];
    const named = Array.isArray(header) ? header.join(',') : header;
    // A header has no location in an error's details, so there is nothing to point at.
    if (named !== undefined && (named.length === 0 || named.length > longest))
      throw new ApiError('bad_request', { reason: 'the merchant account header is empty or too long' });
    if (merchantScope === 'none') {
      context.selection = { kind: 'none' };
      return;
    }
    if (named === '*') {
      if (merchantScope !== 'many') throw new ApiError('bad_request', { reason: '* is not for this operation' });
      // What writes for all accounts, also for those to come, takes a pair that reaches all of them.
      if (method !== 'get' && own.length > 0)
        throw new ApiError('forbidden', { reason: '* takes access to all merchant accounts' });
      context.selection = { kind: 'all' };
      return;
    }
    const account = await (named === undefined ? first(own) : find(own, named));
    if (!account) throw new ApiError('not_found', { reason: 'unknown merchant account, or out of reach' });
    context.selection = { kind: 'one', id: account.id };
  };
