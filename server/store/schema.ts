// The tables, as Kysely types. Timestamps are Date inside; ISO strings are made where an answer is made.
import type { ColumnType, Generated } from 'kysely';

type Stamp = ColumnType<Date, Date | string | undefined, Date | string>;

export interface MerchantAccountsTable {
  id: string;
  display_name: string;
  over_capture_amount: Generated<number>;
  over_capture_percentage: number | null;
  created_at: Stamp;
  updated_at: Stamp;
}

export interface RolesTable {
  id: Generated<string>;
  slug: string;
  name: string;
  description: string | null;
  permissions: string[];
  assignable_to: Generated<string[]>;
  applies_to: Generated<string[]>;
  is_standalone_assignable: Generated<boolean>;
}

export interface ApiKeyPairsTable {
  id: Generated<string>;
  thumbprint: string;
  display_name: string;
  algorithm: 'ECDSA' | 'RSA';
  public_key: string;
  active: Generated<boolean>;
  creator_id: string | null;
  creator_name: string | null;
  creator_email_address: string | null;
  creator_thumbprint: string | null;
  created_at: Stamp;
  updated_at: Stamp;
  last_used_at: ColumnType<Date | null, Date | null | undefined, Date | null>;
}

export interface Tables {
  merchant_accounts: MerchantAccountsTable;
  roles: RolesTable;
  api_key_pairs: ApiKeyPairsTable;
  api_key_pair_roles: { api_key_pair_id: string; role_id: string };
  api_key_pair_merchant_accounts: { api_key_pair_id: string; merchant_account_id: string };
}
