/**
 * Merchant accounts that a key pair has access to, or that a list is about. `all` includes those that are created later.
 * Elsewhere "all accounts" looks different: the header and the command line say `*`, which is no account's name; a key pair with access
 * to all has no rows in `api_key_pair_merchant_accounts`; a subscription to all has `merchant_account_id` null.
 */
export type Accounts = 'all' | { only: readonly string[] };

export const allAccounts = '*';

/** The account of the idempotency keys of requests about no account. Those of requests about many have `allAccounts`. */
export const noAccount = '';
