// Selects the merchant account of a request. An account that does not exist and one that the caller has no access to get the
// same answer, so that a caller cannot find out which accounts exist.
import type { Operation } from '../../generated/operations.ts';
import { ApiError } from '../errors.ts';
import { createCache } from './cache.ts';
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
  now?: () => Date;
}

// As long as a key pair is (bearer.ts): what a pair has access to changes with the pair.
const cacheMilliseconds = 2_000;
const mostCached = 1_000;

// The parameter MerchantAccountId of the contract says the same.
const longest = 255;

export const createMerchantAccount = ({
  first,
  find,
  now = () => new Date(),
}: MerchantAccountDeps): Step<Context> => {
  const cache = createCache<{ id: string }>(mostCached);
  const lookUp = async (own: readonly string[], named: string | undefined) => {
    const at = now().getTime();
    const key = JSON.stringify([named ?? null, ...own]);
    const known = cache.get(key, at);
    if (known) return known;
    const found = await (named === undefined ? first(own) : find(own, named));
    if (found) cache.set(key, found, at + cacheMilliseconds);
    return found;
  };
  return async (context, req) => {
    const { merchantScope, method } = context.operation;
    const own = context.caller.merchantAccountIds;
    const header = req.headers['x-service-merchant-account-id'];
    const named = Array.isArray(header) ? header.join(',') : header;
    if (named !== undefined) refuseMalformed(named);
    if (merchantScope === 'none') {
      context.selection = { kind: 'none' };
      return;
    }
    if (named === severalAccounts) {
      if (merchantScope !== 'many')
        throw badHeader(
          'must name one merchant account: this operation does not accept *',
          'value_error.const',
        );
      // A write for all accounts includes future ones, so the key pair must have access to all.
      if (method !== 'get' && own.length > 0)
        throw new ApiError('forbidden', { reason: '* needs access to all merchant accounts' });
      context.selection = { kind: 'all' };
      return;
    }
    const account = await lookUp(own, named);
    if (!account)
      throw named === undefined
        ? new ApiError('not_found', { reason: 'the key pair has access to no merchant account' })
        : unknownMerchantAccount();
    context.selection = { kind: 'one', id: account.id };
  };
};

function refuseMalformed(named: string): void {
  if (named.length === 0) throw badHeader('must have 1 character or more', 'value_error.str.min_length');
  if (named.length > longest)
    throw badHeader(`must have ${longest} characters or less`, 'value_error.str.max_length');
  if (!/^[ -~]+$/.test(named))
    throw badHeader('must consist of printable ASCII characters', 'value_error.str.regex');
}

const detail = (message: string, type: string) =>
  ({ location: 'header', pointer: '/x-service-merchant-account-id', message, type }) as const;

const badHeader = (message: string, type: string) =>
  new ApiError('bad_request', { details: [detail(message, type)] });

/** The same for an account that does not exist and one that the caller has no access to. */
export const unknownMerchantAccount = (reason?: string) =>
  new ApiError('not_found', {
    details: [detail('names no merchant account that this key pair can access', 'value_error.not_found')],
    ...(reason === undefined ? {} : { reason }),
  });
