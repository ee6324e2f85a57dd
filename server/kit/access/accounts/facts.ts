import { sql } from 'kysely';
import { plain, type Facts } from '../../maintenance/facts.ts';

export const merchantAccounts = {
  ...plain,
  key: { id: 'text' },
  isByAccount: false,
  sealed: { key_sealed: { purpose: 'digest-key', owner: sql.ref('merchant_accounts.id') } },
} as const satisfies Facts<'merchant_accounts'>;
