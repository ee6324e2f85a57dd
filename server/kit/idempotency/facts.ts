import { plain, type Facts } from '../maintenance/facts.ts';
import { kept } from '../rules/erasure.ts';
import { keepKeySeconds } from './rules.ts';

export const idempotencyKeys = {
  ...plain,
  key: { slot: 'text' },
  isByAccount: true,
  retention: {
    job: 'old-idempotency-keys',
    milliseconds: () => 1000 * keepKeySeconds + 3_600_000,
    time: 'created_at',
  },
  sealed: { answer_sealed: 'answer' },
  // The key stays, so that a request that is repeated is not carried out twice.
  erasure: {
    ...kept('merchant_account_id', 'slot', 'resource_id', 'created_at'),
    ...kept('fingerprint', 'claim', 'claimed_until'),
    answer_sealed: 'erased',
  },
  placeholder: {
    idColumn: 'claim',
    row: { slot: '', fingerprint: '', claimed_until: new Date(0), created_at: new Date(0) },
  },
} as const satisfies Facts<'idempotency_keys'>;
