import { kept } from '../../kit/rules/erasure.ts';
import { plain, type Facts } from '../../kit/upkeep/facts.ts';

export const buyers = {
  ...plain,
  key: { id: 'uuid' },
  isByAccount: true,
  erasure: {
    ...kept('id', 'merchant_account_id', 'created_at', 'updated_at', 'erased_at'),
    account_number: 'erased',
    billing_details: 'erased',
    display_name: 'erased',
    // Erased last: until then it leads to transactions.
    external_identifier: 'erased',
  },
} as const satisfies Facts<'buyers'>;
