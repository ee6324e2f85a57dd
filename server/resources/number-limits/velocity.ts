// Velocity limits (`x-velocity-limit`) are on storing cards. They are counted when a request is carried
// out: after its Idempotency-Key was claimed, because a repeated answer does not count, and before anything else is looked at,
// because every other answer would tell something about the number. For the same reason another number that comes with a known key is
// counted, too: see docs/decisions/0013.
import { createHash } from 'node:crypto';
import { operations, type Operation } from '../../../generated/operations.ts';
import type { Db } from '../../kit/database/database.ts';
import type { RecordCall } from '../../kit/database/rate-limits.ts';
import { tooMany, type LimitVelocity } from '../../kit/http/limits.ts';
import type { DigestKeys } from '../../kit/secrets/derive-keys.ts';
import type { NumberBuckets } from './changes.ts';
import { triedNumber } from './rules.ts';

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
