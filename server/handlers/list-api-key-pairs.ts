import type { Handler, Result } from '../../generated/operations.ts';
import type { components } from '../../generated/types.ts';
import { cursorBinding, pageCursors, readCursor } from '../domain/cursor.ts';
import type { ApiKeyPairRow } from '../store/api-key-pairs.ts';
import type { Deps } from './deps.ts';

export const listApiKeyPairs: Handler<'listApiKeyPairs', Deps> = async (
  { query },
  { store, cursors, caller },
): Promise<Result<'listApiKeyPairs'>> => {
  const boundTo = cursorBinding('listApiKeyPairs', '', query);
  const cursor = readCursor(cursors, query.cursor, boundTo);
  const page = await store.listApiKeyPairPage(caller.merchantAccountIds, { limit: query.limit, cursor });
  return {
    status: 200,
    body: { items: page.rows.map(present), limit: query.limit, ...pageCursors(cursors, page, boundTo) },
  };
};

const iso = (time: Date | string) => new Date(time).toISOString();

function present(row: ApiKeyPairRow): components['schemas']['ApiKeyPair'] {
  const { id, thumbprint, display_name, algorithm, active } = row;
  return {
    type: 'api-key-pair',
    id,
    thumbprint,
    display_name,
    algorithm,
    active,
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
    last_used_at: row.last_used_at && iso(row.last_used_at),
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
      id: account.id,
      display_name: account.display_name,
      created_at: iso(account.created_at),
      updated_at: iso(account.updated_at),
      over_capture_amount: account.over_capture_amount,
      over_capture_percentage: account.over_capture_percentage,
    })),
    roles: row.roles.map((role) => ({
      type: 'role',
      id: role.id,
      name: role.name,
      slug: role.slug,
      description: role.description,
      permissions: { allow: role.permissions },
      assignable_to: role.assignable_to,
      applies_to: role.applies_to,
      is_standalone_assignable: role.is_standalone_assignable,
    })),
  };
}
