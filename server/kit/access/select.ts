// Selects the merchant account of a request. An account that does not exist and one that the caller has no access to get the
// same answer, so that a caller cannot find out which accounts exist.
import { programName, type Operation } from '../../../generated/operations.ts';
import { ApiError } from '../errors.ts';
import type { Selected } from '../http/known.ts';
import type { Passed, Step } from '../http/pipeline.ts';
import { allAccounts, onceFor, type Accounts, type Selection } from '../rules/accounts.ts';
import { createLookUp } from '../rules/cache.ts';

/** The mock has other operations and callers. */
type Needed = Passed<'permitted'> & {
  operation: Pick<Operation, 'merchantScope' | 'method'>;
  caller: { accounts: Accounts };
};

interface MerchantAccountDeps<Known> {
  /** The oldest of all. */
  first: (known: Known) => Promise<{ id: string } | undefined>;
  find: (id: string, known: Known) => Promise<{ id: string } | undefined>;
}

// As long as key pairs are cached (bearer.ts).
const cacheMilliseconds = 2_000;
const mostCached = 1_000;
/** No account has this name. */
const theFirst = '';

// The parameter MerchantAccountId of the contract says the same.
const longest = 255;

const noAccountYet = `there is no merchant account yet; create one: ${programName} accounts create default --name Default`;

export function createMerchantAccount<Known>({
  first,
  find,
}: MerchantAccountDeps<Known>): Step<Known & Needed, Selected> {
  const lookUp = createLookUp<{ id: string }>(mostCached, cacheMilliseconds);
  const setOf = onceFor((only) => new Set(only));
  const findFirst = (known: Known) => lookUp(theFirst, () => first(known));
  /** Accounts that a pair names exist, so they need not be looked up. */
  const select = (known: Known & Needed, named: string | undefined) => {
    const own = known.caller.accounts;
    if (own === 'all')
      return named === undefined ? findFirst(known) : lookUp(named, () => find(named, known));
    const id = named ?? own.only[0];
    return id !== undefined && setOf(own.only).has(id) ? { id } : undefined;
  };
  const selectOne = async (known: Known & Needed, named: string | undefined): Promise<Selection> => {
    const account = await select(known, named);
    if (account) return { kind: 'one', id: account.id };
    // The first account is made by the operator, who has to learn that it is missing.
    const reason = (await findFirst(known)) ? undefined : noAccountYet;
    if (named !== undefined) throw unknownMerchantAccount(reason);
    throw new ApiError('not_found', { reason: reason ?? 'the key pair has access to no merchant account' });
  };
  return async (known, req) => {
    const named = req.get('x-service-merchant-account-id');
    if (named !== undefined) refuseMalformed(named);
    if (known.operation.merchantScope === 'none') return { selection: { kind: 'none' } };
    const selection = named === allAccounts ? selectAll(known) : await selectOne(known, named);
    return { selection };
  };
}

function refuseMalformed(named: string): void {
  if (named.length === 0) throw badHeader('must have 1 character or more', 'value_error.str.min_length');
  if (named.length > longest)
    throw badHeader(`must have ${longest} characters or less`, 'value_error.str.max_length');
  if (!/^[ -~]+$/.test(named))
    throw badHeader('must consist of printable ASCII characters', 'value_error.str.regex');
}

/** All that the caller has access to. */
function selectAll({ operation: { merchantScope, method }, caller }: Needed): Selection {
  if (merchantScope !== 'many')
    throw badHeader('must name one merchant account: this operation does not accept *', 'value_error.const');
  // A write for all accounts includes future ones, so the key pair must have access to all.
  if (method !== 'get' && caller.accounts !== 'all')
    throw new ApiError('forbidden', {
      reason: '* needs access to all merchant accounts',
      details: [detail('* needs a key pair with access to all merchant accounts', 'value_error.scope')],
    });
  return { kind: 'many', accounts: caller.accounts };
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
