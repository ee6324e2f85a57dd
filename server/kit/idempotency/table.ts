import type { Stamp } from '../database/columns.ts';

export interface IdempotencyKeysTable {
  /** `*` for a request about several accounts, empty for one without an account. */
  merchant_account_id: string;
  slot: string;
  fingerprint: string;
  claim: string;
  claimed_until: Stamp;
  /** Null while the request is running, and when the answer is erased. */
  answer_sealed: string | null;
  /** What the answer shows, such as the record that was stored: by it the answer is erased. */
  resource_id: string | null;
  created_at: Stamp;
}

declare module '../database/tables.ts' {
  interface Tables {
    idempotency_keys: IdempotencyKeysTable;
  }
}
