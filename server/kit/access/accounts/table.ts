import type { ColumnType } from 'kysely';
import type { components } from '../../../../generated/types.ts';
import type { Shown, ShownColumns } from '../../database/columns.ts';

type MerchantAccount = components['schemas']['MerchantAccountSummary'];

export const merchantAccountColumns = {
  id: 'text',
  display_name: 'text',
  created_at: 'timestamptz',
  updated_at: 'timestamptz',
  over_capture_amount: 'bigint',
  over_capture_percentage: 'integer',
} as const satisfies Shown<MerchantAccount, 'type'>;

export const shownAccountColumns = Object.keys(
  merchantAccountColumns,
) as (keyof typeof merchantAccountColumns)[];

export interface MerchantAccountsTable extends ShownColumns<
  typeof merchantAccountColumns,
  MerchantAccount,
  'over_capture_amount' | 'created_at' | 'updated_at'
> {
  /** The key of its digests, made at the first use: see secrets/digest-keys.ts. */
  key_sealed: ColumnType<string | null, undefined, string>;
}

declare module '../../database/tables.ts' {
  interface Tables {
    merchant_accounts: MerchantAccountsTable;
  }
}
