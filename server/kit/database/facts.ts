import { sql } from 'kysely';
import { plain, type Facts } from '../maintenance/facts.ts';
import { settingName } from '../secrets/digest-keys.ts';

export const settings = {
  ...plain,
  key: { name: 'text' },
  isByAccount: false,
  // There are other values, too.
  sealed: { value: { purpose: 'digest-key', owner: sql`null::text`, only: sql`name = ${settingName}` } },
} as const satisfies Facts<'settings'>;

/** Its keys are digests. */
export const rateLimits = {
  ...plain,
  key: { key: 'text' },
  isByAccount: false,
  retention: { job: 'old-rate-limits', milliseconds: () => 60_000, time: 'expire', isNumber: true },
} as const satisfies Facts<'rate_limits'>;
