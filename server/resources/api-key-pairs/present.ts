import type { components } from '../../../generated/types.ts';
import { presentColumns } from '../../database/columns.ts';
import { merchantAccountColumns } from '../merchant-accounts/table.ts';
import { roleColumns } from '../roles/table.ts';
import type { ApiKeyPairRow } from './queries.ts';
import { apiKeyPairColumns } from './table.ts';

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
