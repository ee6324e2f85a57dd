import type { Generated } from 'kysely';
import type { Stamp } from './columns.ts';

export interface IdempotencyKeysTable {
  id: Generated<string>;
  slot: string;
  fingerprint: string;
  claim: string;
  claimed_until: Stamp;
  answer_sealed: string | null;
  created_at: Stamp;
}
