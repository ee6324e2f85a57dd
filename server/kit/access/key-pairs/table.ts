import type { Selectable } from 'kysely';
import type { components } from '../../../../generated/types.ts';
import { presentColumns, type Shown, type ShownColumns } from '../../database/columns.ts';
import type { Accounts } from '../../rules/accounts.ts';
import { merchantAccountColumns, type MerchantAccountsTable } from '../accounts/table.ts';
import { roleColumns, type RolesTable } from '../roles/table.ts';

type ApiKeyPair = components['schemas']['ApiKeyPair'];

/** `private_key` is shown once, when a pair is made, and never stored. */
type Computed = 'type' | 'private_key' | 'creator' | 'merchant_accounts' | 'roles';

const apiKeyPairColumns = {
  id: 'uuid',
  thumbprint: 'text',
  display_name: 'text',
  algorithm: 'text',
  active: 'boolean',
  created_at: 'timestamptz',
  updated_at: 'timestamptz',
  last_used_at: 'timestamptz',
} as const satisfies Shown<ApiKeyPair, Computed>;

interface ApiKeyPairsTable extends ShownColumns<
  typeof apiKeyPairColumns,
  ApiKeyPair,
  'id' | 'active' | 'created_at' | 'updated_at' | 'last_used_at'
> {
  public_key: string;
  all_accounts: boolean;
  creator_id: string | null;
  creator_name: string | null;
  creator_email_address: string | null;
  creator_thumbprint: string | null;
}

export type ApiKeyPairRow = Selectable<ApiKeyPairsTable> & {
  roles: Selectable<RolesTable>[];
  /** PostgreSQL returns these as nested JSON, so their timestamps are strings. */
  merchant_accounts: (Omit<Selectable<MerchantAccountsTable>, 'created_at' | 'updated_at'> & {
    created_at: string;
    updated_at: string;
  })[];
};

declare module '../../database/tables.ts' {
  interface Tables {
    api_key_pairs: ApiKeyPairsTable;
    api_key_pair_roles: { api_key_pair_id: string; role_id: string };
    api_key_pair_merchant_accounts: { api_key_pair_id: string; merchant_account_id: string };
  }
}

/** Those that are named, even beside `all_accounts`. None if all were deleted by hand: then the pair cannot be used. */
export const accountsOf = (pair: { all_accounts: boolean }, named: readonly string[]): Accounts =>
  pair.all_accounts && named.length === 0 ? 'all' : { only: named };

export const isUsable = (
  pair: { active: boolean; all_accounts: boolean },
  named: readonly unknown[],
): boolean => pair.active && (pair.all_accounts || named.length > 0);

type Schemas = components['schemas'];

const shownPair = presentColumns<ApiKeyPair>()(apiKeyPairColumns);
const shownAccount = presentColumns<Schemas['MerchantAccountSummary']>()(merchantAccountColumns);
const shownRole = presentColumns<Schemas['Role']>()(roleColumns);

export function presentApiKeyPair(row: ApiKeyPairRow): ApiKeyPair {
  return {
    type: 'api-key-pair',
    ...shownPair(row),
    // By the specification, a pair without accounts has access to all of them.
    active: isUsable(row, row.merchant_accounts),
    creator:
      row.creator_id === null
        ? null
        : {
            id: row.creator_id,
            name: row.creator_name ?? '',
            email_address: row.creator_email_address,
            thumbprint: row.creator_thumbprint,
          },
    merchant_accounts: row.merchant_accounts.map((account) => ({
      type: 'merchant-account',
      ...shownAccount(account),
    })),
    roles: row.roles.map((role) => ({
      type: 'role',
      ...shownRole(role),
      permissions: { allow: role.permissions },
    })),
  };
}
