import { plain, type Facts } from '../../maintenance/facts.ts';

export const apiKeyPairs = {
  ...plain,
  key: { id: 'uuid' },
  isByAccount: false,
} as const satisfies Facts<'api_key_pairs'>;

export const apiKeyPairRoles = {
  ...plain,
  key: { api_key_pair_id: 'uuid', role_id: 'uuid' },
  isByAccount: false,
} as const satisfies Facts<'api_key_pair_roles'>;

export const apiKeyPairMerchantAccounts = {
  ...plain,
  key: { api_key_pair_id: 'uuid', merchant_account_id: 'text' },
  isByAccount: false,
} as const satisfies Facts<'api_key_pair_merchant_accounts'>;
