// Limits on storing cards, as the contract defines them in `x-velocity-limit`. They are counted when a request is carried
// out: after its Idempotency-Key was claimed, because a repeated answer does not count, and before anything else is looked at,
// because every other answer would tell something about the number. For the same reason a number that comes with a known key is
// counted before it is compared with the first one: see docs/decisions/0013.
import { createHash } from 'node:crypto';
import { operations, type Operation } from '../../generated/operations.ts';
import type { DigestKeys } from '../secrets/derive-keys.ts';
import { triedNumber, type NumberLimit, type TriedNumber } from '../resources/card-numbers/rules.ts';
import type { CountCall, RateLimit } from '../database/rate-limits.ts';
import type { Context } from './context.ts';
import { tooMany } from './rate-limit.ts';

const limits = (Object.values(operations) as Operation[]).flatMap(({ id, velocityLimit }) =>
  velocityLimit ? [{ id, ...velocityLimit }] : [],
);

const scopeOf = (operationId: string) => `cards ${operationId}`;

export type CardsPerMinute = number | 'off' | undefined;

/** `configured` takes precedence over the contract's limit, which is that of production. */
export const cardLimits = (
  configured: CardsPerMinute,
  environment: 'sandbox' | 'production',
): readonly RateLimit[] =>
  limits.flatMap(({ id, cards }) => {
    const limit = configured ?? (environment === 'production' ? cards.limit : 'off');
    return limit === 'off' ? [] : [{ scope: scopeOf(id), limit, windowSeconds: cards.windowSeconds }];
  });

/** How long numbers have to be remembered. */
export const rememberNumbersMilliseconds =
  1000 * Math.max(0, ...limits.map(({ sameBinAndLastFour }) => sameBinAndLastFour.windowSeconds));

export interface VelocityDeps {
  countCard: CountCall;
  /** Undefined when the number is within the limit, otherwise the milliseconds to wait. */
  countNumber: (
    context: Context,
    account: string,
    tried: TriedNumber,
    limit: NumberLimit,
  ) => Promise<number | undefined>;
  keysOf: (context: Context, account: string) => Promise<DigestKeys>;
}

export interface LimitVelocity {
  /** Both limits, for a request that is carried out. */
  cards: (context: Context, body: unknown) => Promise<void>;
  /** Only that on numbers that are alike. */
  numbers: (context: Context, body: unknown) => Promise<void>;
}

export function createVelocityLimit({ countCard, countNumber, keysOf }: VelocityDeps): LimitVelocity {
  // Requests with the same number at the same time are counted once: those that repeat a request which is still running.
  const counting = new Map<string, ReturnType<typeof countNumber>>();
  const countShared: typeof countNumber = (context, account, tried, limit) => {
    const count =
      counting.get(tried.number) ??
      countNumber(context, account, tried, limit).finally(() => counting.delete(tried.number));
    counting.set(tried.number, count);
    return count;
  };
  const numbers: LimitVelocity['numbers'] = async (context, body) => {
    const { operation, selection } = context;
    const { velocityLimit }: Operation = operation;
    if (!velocityLimit || selection.kind !== 'one') return;
    const { number } = body as { number: string };
    const tried = triedNumber(await keysOf(context, selection.id), number);
    const wait = await countShared(context, selection.id, tried, velocityLimit.sameBinAndLastFour);
    if (wait !== undefined)
      throw tooMany(wait, 'too many numbers with the same BIN and last four digits in a day');
  };
  const cards: LimitVelocity['cards'] = async (context, body) => {
    const { operation, caller, selection, budget } = context;
    const { id, velocityLimit }: Operation = operation;
    if (!velocityLimit || selection.kind !== 'one') return;
    // A digest, because the key of a counter has at most 255 characters.
    const owner = createHash('sha256')
      .update(JSON.stringify([caller.keyPairId, selection.id]))
      .digest('base64url');
    const milliseconds = await countCard(scopeOf(id), owner, budget);
    if (milliseconds !== undefined) throw tooMany(milliseconds, 'too many cards of one key pair in a minute');
    await numbers(context, body);
  };
  return { cards, numbers };
}
