export interface FingerprintProgressTable {
  merchant_account_id: string;
  /** The version that the account is rewritten to; empty before the first rewrite. */
  version: string;
  phase: 'cards' | 'transactions' | 'events' | 'done';
  /** Where the phase continues. */
  after: string | null;
  /** Whether fingerprints of unknown cards become null. */
  whole: boolean;
}

export interface FingerprintMovesTable {
  merchant_account_id: string;
  /** As the API showed them. */
  old: string;
  fresh: string | null;
}
