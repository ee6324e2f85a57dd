import type { components } from '../../../generated/types.ts';
import type { Shown, ShownColumns } from '../../database/columns.ts';

type ApiKeyPair = components['schemas']['ApiKeyPair'];

/** `private_key` is shown once, when a pair is made, and never stored. */
type Computed = 'type' | 'private_key' | 'creator' | 'merchant_accounts' | 'roles';

export const apiKeyPairColumns = {
  id: 'uuid',
  thumbprint: 'text',
  display_name: 'text',
  algorithm: 'text',
  active: 'boolean',
  created_at: 'timestamptz',
  updated_at: 'timestamptz',
  last_used_at: 'timestamptz',
} as const satisfies Shown<ApiKeyPair, Computed>;

export interface ApiKeyPairsTable extends ShownColumns<
  typeof apiKeyPairColumns,
  ApiKeyPair,
  'id' | 'active' | 'created_at' | 'updated_at' | 'last_used_at'
> {
  public_key: string;
  creator_id: string | null;
  creator_name: string | null;
  creator_email_address: string | null;
  creator_thumbprint: string | null;
}

declare module '../../database/tables.ts' {
  interface Tables {
    api_key_pairs: ApiKeyPairsTable;
    api_key_pair_roles: { api_key_pair_id: string; role_id: string };
    api_key_pair_merchant_accounts: { api_key_pair_id: string; merchant_account_id: string };
  }
}
