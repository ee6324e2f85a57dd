import type { Generated } from 'kysely';
import type { Stamp } from './columns.ts';

export interface IdempotencyKeysTable {
  /** `*` for a request about several accounts, empty for one without an account. */
  merchant_account_id: string;
  id: Generated<string>;
  slot: string;
  fingerprint: string;
  claim: string;
  claimed_until: Stamp;
  created_at: Stamp;
}

export interface IdempotencyAnswersTable {
  merchant_account_id: string;
  /** Of the key. */
  id: string;
  slot: string;
  claim: string;
  answer_sealed: string;
  /** What the answer shows, such as the card that was stored: by it the answer is erased. */
  resource_id: string | null;
  /** Of the claim. */
  created_at: Stamp;
}
