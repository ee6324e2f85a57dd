// What the caller may do: first what the scopes of the token and the roles of the key pair allow, then the merchant accounts.
import type { Operation } from '../../generated/operations.ts';
import { ApiError } from '../errors.ts';
import type { Selection } from '../handlers/deps.ts';
import { findLack } from '../resources/roles/rules.ts';
import { allAccounts, type Accounts } from '../rules/accounts.ts';
import { createCache } from './cache.ts';
import type { Step, PipelineStep } from './step.ts';

const refusals = {
  scopes: 'the scopes of the token do not allow',
  roles: 'the roles of the key pair do not allow',
  both: 'neither the scopes of the token nor the roles of the key pair allow',
};

/** The caller is told what the reference of the operation says, but not whether the token or its key pair lacks it. */
export function forbidden(lack: keyof typeof refusals, scopes: readonly string[]): ApiError {
  const needed = scopes.join(' or ');
  const message = `needs a token with the scope ${needed}, and a key pair with a role that allows the operation`;
  return new ApiError('forbidden', {
    reason: `${refusals[lack]} ${needed}`,
    details: [{ location: 'header', pointer: '/authorization', message, type: 'value_error.scope' }],
  });
}

export const permission: Step = ({ caller, operation }) => {
  const lack = findLack(operation.scopes, caller.scopes, caller.permissions);
  if (lack !== undefined) throw forbidden(lack, operation.scopes);
};

// Selects the merchant account of a request. An account that does not exist and one that the caller has no access to get the
// same answer, so that a caller cannot find out which accounts exist.

interface Needed {
  operation: Pick<Operation, 'merchantScope' | 'method'>;
  caller: { accounts: Accounts };
  selection: Selection;
}

interface MerchantAccountDeps<Context> {
  first: (own: Accounts, context: Context) => Promise<{ id: string } | undefined>;
  find: (own: Accounts, id: string, context: Context) => Promise<{ id: string } | undefined>;
}

// As long as key pairs are cached (bearer.ts): the accounts of a pair change with the pair.
const cacheMilliseconds = 2_000;
const mostCached = 1_000;

// The parameter MerchantAccountId of the contract says the same.
const longest = 255;

const noAccountYet =
  'there is no merchant account yet; create one: payments accounts create default --name Default';

export const createMerchantAccount = <Context extends Needed>({
  first,
  find,
}: MerchantAccountDeps<Context>): PipelineStep<Context> => {
  const cache = createCache<{ id: string }>(mostCached);
  const lookUp = async (context: Context, named: string | undefined) => {
    const own = context.caller.accounts;
    const at = performance.now();
    const key = JSON.stringify([named ?? null, own]);
    const known = cache.get(key, at);
    if (known) return known;
    const found = await (named === undefined ? first(own, context) : find(own, named, context));
    if (found) cache.set(key, found, at + cacheMilliseconds);
    return found;
  };
  return async (context, req) => {
    const { merchantScope, method } = context.operation;
    const own = context.caller.accounts;
    const header = req.headers['x-service-merchant-account-id'];
    const named = Array.isArray(header) ? header.join(',') : header;
    if (named !== undefined) refuseMalformed(named);
    if (merchantScope === 'none') {
      context.selection = { kind: 'none' };
      return;
    }
    if (named === allAccounts) {
      if (merchantScope !== 'many')
        throw badHeader(
          'must name one merchant account: this operation does not accept *',
          'value_error.const',
        );
      // A write for all accounts includes future ones, so the key pair must have access to all.
      if (method !== 'get' && own !== 'all')
        throw new ApiError('forbidden', {
          reason: '* needs access to all merchant accounts',
          details: [detail('* needs a key pair with access to all merchant accounts', 'value_error.scope')],
        });
      context.selection = { kind: 'many', accounts: own };
      return;
    }
    const account = await lookUp(context, named);
    if (!account) {
      // The first account is made by the operator, who has to learn that it is missing.
      const reason = (await first('all', context)) ? undefined : noAccountYet;
      throw named === undefined
        ? new ApiError('not_found', { reason: reason ?? 'the key pair has access to no merchant account' })
        : unknownMerchantAccount(reason);
    }
    context.selection = { kind: 'one', id: account.id };
  };
};

/** The key pair and account whose share of the database connections a request uses: see database/fair-share.ts. */
export function requestOwner({ selection, caller }: { selection: Selection; caller: { keyPairId: string } }) {
  const accounts = selection.kind === 'many' && selection.accounts !== 'all' ? selection.accounts.only : [];
  const [only] = accounts.length === 1 ? accounts : [];
  return { keyPair: caller.keyPairId, account: selection.kind === 'one' ? selection.id : only };
}

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
