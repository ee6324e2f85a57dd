// Keyed digests, which no erasure can find. They are kept for about a day.
import { plain, type Facts } from '../../kit/maintenance/facts.ts';
import { rememberNumbersMilliseconds } from './velocity.ts';

export const numberBuckets = {
  ...plain,
  key: { bucket: 'text' },
  isByAccount: false,
  retention: {
    job: 'old-card-numbers',
    milliseconds: () => rememberNumbersMilliseconds + 3_600_000,
    time: 'changed_at',
  },
} as const satisfies Facts<'number_buckets'>;

export const cardNumbers = {
  ...plain,
  key: { bucket: 'text', number: 'text' },
  isByAccount: false,
  retention: { job: 'card-numbers-of-1.0', milliseconds: () => rememberNumbersMilliseconds, time: 'seen_at' },
} as const satisfies Facts<'card_numbers'>;
