// Selects the merchant account of a request. An account that does not exist and one that the caller has no access to get the
// same answer, so that a caller cannot find out which accounts exist.
import type { Operation } from '../../generated/operations.ts';
import { ApiError } from '../errors.ts';
import type { Step } from './step.ts';

/** One account, or with `*` all accounts that the caller has access to. */
export type Selection = { kind: 'none' } | { kind: 'one'; id: string } | { kind: 'all' };

/** No account has this ID: it is what the header says for all of them. */
export const severalAccounts = '*';

interface Context {
  operation: Pick<Operation, 'merchantScope' | 'method'>;
  /** The merchant accounts that the caller has access to; empty means all. */
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
    // Without details, because their `location` cannot be a header.
    if (named !== undefined && (named.length === 0 || named.length > longest))
      throw new ApiError('bad_request', { reason: 'the merchant account header is empty or too long' });
    if (merchantScope === 'none') {
      context.selection = { kind: 'none' };
      return;
    }
    if (named === severalAccounts) {
      if (merchantScope !== 'many')
        throw new ApiError('bad_request', { reason: 'this operation does not accept *' });
      // A write for all accounts includes future ones, so the key pair must have access to all.
      if (method !== 'get' && own.length > 0)
        throw new ApiError('forbidden', { reason: '* needs access to all merchant accounts' });
      context.selection = { kind: 'all' };
      return;
    }
    const account = await (named === undefined ? first(own) : find(own, named));
    if (!account)
      throw new ApiError('not_found', {
        reason: 'the merchant account is unknown or the caller has no access',
      });
    context.selection = { kind: 'one', id: account.id };
  };
