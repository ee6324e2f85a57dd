import { plain, type Facts } from '../../kit/maintenance/facts.ts';
import { erased, kept } from '../../kit/rules/erasure.ts';

export const buyers = {
  ...plain,
  key: { id: 'uuid' },
  isByAccount: true,
  erasure: {
    ...kept('id', 'merchant_account_id', 'created_at', 'updated_at', 'erased_at'),
    ...erased('account_number', 'billing_details', 'display_name'),
    // Erased last: until then it leads to transactions.
    external_identifier: 'erased',
  },
} as const satisfies Facts<'buyers'>;
