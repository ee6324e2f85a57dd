// Limits, as the contract defines them. Rate limits: which operations, for tokens with which scope, how many calls. Calls are
// counted over all operations with the same scope.
import { createHash } from 'node:crypto';
import { operations, type Operation } from '../../generated/operations.ts';
import type { Db } from '../database/database.ts';
import type { CountCall } from '../database/rate-limits.ts';
import { ApiError } from '../errors.ts';
import { countNumbers, findWait } from '../resources/card-numbers/queries.ts';
import { triedNumber } from '../resources/card-numbers/rules.ts';
import type { DigestKeys } from '../secrets/derive-keys.ts';
import type { Context, Step } from './step.ts';

export const createRateLimit =
  (countCall: CountCall): Step =>
  async ({ operation, caller, quickDb }) => {
    const { rateLimit }: Operation = operation;
    if (!rateLimit || !caller.scopes.includes(rateLimit.scope)) return;
    const milliseconds = await countCall(quickDb, rateLimit, caller.tokenDigest);
    if (milliseconds !== undefined)
      throw tooMany(milliseconds, `too many calls with one ${rateLimit.scope} token`);
  };

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
  countCall: CountCall;
  keysOf: (db: Db, account: string) => Promise<DigestKeys>;
  cardsPerMinute: CardsPerMinute;
  environment: 'sandbox' | 'production';
}

export interface LimitVelocity {
  /** Both limits, for a request that is carried out. */
  cards: (context: Context, body: unknown) => Promise<void>;
  /** Only the limit on numbers that are alike. A repeated request is not counted. */
  numbers: (context: Context, body: unknown, isRepeated: boolean) => Promise<void>;
}

export function createVelocityLimit(deps: VelocityDeps): LimitVelocity {
  const { countCall, keysOf, cardsPerMinute, environment } = deps;
  const numbers: LimitVelocity['numbers'] = async (
    { quickDb, db, operation, selection },
    body,
    isRepeated,
  ) => {
    const { velocityLimit }: Operation = operation;
    if (!velocityLimit || selection.kind !== 'one') return;
    const { number } = body as { number: string };
    const tried = triedNumber(await keysOf(quickDb, selection.id), number);
    const { sameBinAndLastFour: limit } = velocityLimit;
    const wait = isRepeated ? await findWait(db, tried, limit) : (await countNumbers(db, [tried], limit))[0];
    if (wait !== undefined)
      throw tooMany(wait, 'too many numbers with the same BIN and last four digits in a day');
  };
  const cards: LimitVelocity['cards'] = async (context, body) => {
    const { quickDb, operation, caller, selection } = context;
    const { id, velocityLimit }: Operation = operation;
    if (!velocityLimit || selection.kind !== 'one') return;
    const limit = cardLimit(cardsPerMinute, environment, velocityLimit.cards.limit);
    if (limit !== 'off') {
      const { windowSeconds } = velocityLimit.cards;
      // A digest, because the key of a counter has at most 255 characters.
      const owner = createHash('sha256')
        .update(JSON.stringify([caller.keyPairId, selection.id]))
        .digest('base64url');
      const milliseconds = await countCall(quickDb, { scope: `cards ${id}`, limit, windowSeconds }, owner);
      if (milliseconds !== undefined)
        throw tooMany(milliseconds, 'too many cards of one key pair in a minute');
    }
    await numbers(context, body, false);
  };
  return { cards, numbers };
}
