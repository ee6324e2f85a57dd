import type { components } from '../../../generated/types.ts';
import type { Shown, ShownColumns } from './columns.ts';

type MerchantAccount = components['schemas']['MerchantAccountSummary'];

export const merchantAccountColumns = {
  id: 'text',
  display_name: 'text',
  created_at: 'timestamptz',
  updated_at: 'timestamptz',
  over_capture_amount: 'bigint',
  over_capture_percentage: 'integer',
} as const satisfies Shown<MerchantAccount, 'type'>;

export type MerchantAccountsTable = ShownColumns<
  typeof merchantAccountColumns,
  MerchantAccount,
  'over_capture_amount' | 'created_at' | 'updated_at'
>;
