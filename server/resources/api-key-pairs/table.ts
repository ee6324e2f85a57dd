import type { Selectable } from 'kysely';
import type { components } from '../../../generated/types.ts';
import { presentColumns, type Shown, type ShownColumns } from '../../database/columns.ts';
import { merchantAccountColumns, type MerchantAccountsTable } from '../merchant-accounts/table.ts';
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

type Schemas = components['schemas'];

const shownPair = presentColumns<ApiKeyPairRow, Pick<Schemas['ApiKeyPair'], keyof typeof apiKeyPairColumns>>(
  apiKeyPairColumns,
);
const shownAccount = presentColumns<
  ApiKeyPairRow['merchant_accounts'][number],
  Pick<Schemas['MerchantAccountSummary'], keyof typeof merchantAccountColumns>
>(merchantAccountColumns);
const shownRole = presentColumns<
  ApiKeyPairRow['roles'][number],
  Pick<Schemas['Role'], keyof typeof roleColumns>
>(roleColumns);

export function presentApiKeyPair(row: ApiKeyPairRow): Schemas['ApiKeyPair'] {
  return {
    type: 'api-key-pair',
    ...shownPair(row),
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
