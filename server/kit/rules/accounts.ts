/**
 * Merchant accounts that a key pair has access to, or that a list is about. `all` includes those that are created later.
 * Elsewhere "all accounts" looks different: the header and the command line say `*`, which is no account's name; a key pair with access
 * to all has `all_accounts`, and no rows in `api_key_pair_merchant_accounts`, which 1.1.0 reads as all; a subscription to all has
 * `merchant_account_id` null.
 */
export type Accounts = 'all' | { only: readonly string[] };

export const allAccounts = '*';

/** The account of the idempotency keys of requests about no account. Those of requests about many have `allAccounts`. */
export const noAccount = '';

export function groupByAccount<Row, Account>(
  rows: readonly Row[],
  accountOf: (row: Row) => Account,
): Map<Account, Row[]> {
  const groups = new Map<Account, Row[]>();
  for (const row of rows) {
    const group = groups.get(accountOf(row));
    if (group) group.push(row);
    else groups.set(accountOf(row), [row]);
  }
  return groups;
}

/** Once for each list, which is cached with its key pair: to sort and write thousands takes longer than to read a page. */
export function onceFor<Derived extends string | object>(
  derive: (accounts: readonly string[]) => Derived,
): typeof derive {
  const known = new WeakMap<readonly string[], Derived>();
  return (accounts) => {
    const derived = known.get(accounts) ?? derive(accounts);
    known.set(accounts, derived);
    return derived;
  };
}

/** The merchant accounts that a request is about: `many` are all that the caller has access to. */
export type Selection = { kind: 'none' } | { kind: 'one'; id: string } | { kind: 'many'; accounts: Accounts };
