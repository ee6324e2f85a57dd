// Limits, as the contract defines them. Rate limits: which operations, for tokens with which scope, how many calls. Calls are
// counted over all operations with the same scope.
import { createHash } from 'node:crypto';
import { operations, type Operation } from '../../generated/operations.ts';
import type { Db } from '../database/database.ts';
import type { RecordCall } from '../database/rate-limits.ts';
import { ApiError } from '../errors.ts';
import type { NumberBuckets } from '../resources/number-limits/changes.ts';
import { triedNumber } from '../resources/number-limits/rules.ts';
import type { DigestKeys } from '../secrets/derive-keys.ts';
import type { Arrived, Authenticated, Owned, Routed, Selected, Validated } from './known.ts';
import { check } from './pipeline.ts';

export const createRateLimit = (recordCall: RecordCall) =>
  check('counted', async (known: Pick<Arrived, 'deadline'> & Routed & Authenticated & Owned) => {
    const { operation, caller } = known;
    const { rateLimit }: Operation = operation;
    if (!rateLimit || !caller.scopes.includes(rateLimit.scope)) return;
    const milliseconds = await recordCall(known, rateLimit, caller.tokenDigest);
    if (milliseconds !== undefined)
      throw tooMany(milliseconds, `too many calls with one ${rateLimit.scope} token`);
  });

/** `reason` is for the log and the sandbox's page; callers are not told. */
export const tooMany = (milliseconds: number, reason: string): ApiError => {
  const seconds = Math.max(1, Math.ceil(milliseconds / 1000));
  return new ApiError('too_many_requests', { reason, headers: { 'Retry-After': String(seconds) } });
};

// Velocity limits (`x-velocity-limit`) are on storing cards. They are counted when a request is carried
// out: after its Idempotency-Key was claimed, because a repeated answer does not count, and before anything else is looked at,
// because every other answer would tell something about the number. For the same reason another number that comes with a known key is
// counted, too: see docs/decisions/0013.

const limits = (Object.values(operations) as Operation[]).flatMap(({ id, velocityLimit }) =>
  velocityLimit ? [{ id, ...velocityLimit }] : [],
);

type CardsPerMinute = number | 'off' | undefined;

/** `configured` takes precedence over the contract's limit, which is that of production. */
export const cardLimit = (
  configured: CardsPerMinute,
  environment: 'sandbox' | 'production',
  contracts: number,
): number | 'off' => configured ?? (environment === 'production' ? contracts : 'off');

/** How long numbers have to be remembered. */
export const rememberNumbersMilliseconds =
  1000 * Math.max(0, ...limits.map(({ sameBinAndLastFour }) => sameBinAndLastFour.windowSeconds));

interface VelocityDeps {
  recordCall: RecordCall;
  numberBuckets: NumberBuckets;
  keysOf: (db: Db, account: string) => Promise<DigestKeys>;
  cardsPerMinute: CardsPerMinute;
  environment: 'sandbox' | 'production';
}

type Known = Pick<Arrived, 'deadline'> & Routed & Authenticated & Selected & Owned & Validated;

export interface LimitVelocity {
  /** Both limits, for a request that is carried out. */
  cards: (known: Known) => Promise<void>;
  /** Only the limit on numbers that are alike. A repeated request is not counted. */
  numbers: (known: Known, isRepeated: boolean) => Promise<void>;
}

export function createVelocityLimit(deps: VelocityDeps): LimitVelocity {
  const { recordCall, numberBuckets, keysOf, cardsPerMinute, environment } = deps;
  const numbers: LimitVelocity['numbers'] = async (known, isRepeated) => {
    const { db, operation, selection, input } = known;
    const { velocityLimit }: Operation = operation;
    if (!velocityLimit || selection.kind !== 'one') return;
    const { number } = input.body as { number: string };
    const tried = triedNumber(await keysOf(db, selection.id), number);
    const { sameBinAndLastFour: limit } = velocityLimit;
    const wait = isRepeated
      ? await numberBuckets.find(known, tried, limit)
      : (await numberBuckets.record(known, [tried], limit))[0];
    if (wait !== undefined)
      throw tooMany(wait, 'too many numbers with the same BIN and last four digits in a day');
  };
  const cards: LimitVelocity['cards'] = async (known) => {
    const { operation, caller, selection } = known;
    const { id, velocityLimit }: Operation = operation;
    if (!velocityLimit || selection.kind !== 'one') return;
    const limit = cardLimit(cardsPerMinute, environment, velocityLimit.cards.limit);
    if (limit !== 'off') {
      const { windowSeconds } = velocityLimit.cards;
      // A digest, because the key of a counter has at most 255 characters.
      const owner = createHash('sha256')
        .update(JSON.stringify([caller.keyPairId, selection.id]))
        .digest('base64url');
      const milliseconds = await recordCall(known, { scope: `cards ${id}`, limit, windowSeconds }, owner);
      if (milliseconds !== undefined)
        throw tooMany(milliseconds, 'too many cards of one key pair in a minute');
    }
    await numbers(known, false);
  };
  return { cards, numbers };
}
