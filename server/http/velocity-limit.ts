// Limits on storing cards, as the contract defines them in `x-velocity-limit`. They are counted when a request is carried
// out: after its Idempotency-Key was claimed, because a repeated answer does not count, and before anything else is looked at,
// because every other answer would tell something about the number.
import { createHash } from 'node:crypto';
import { operations, type Operation } from '../../generated/operations.ts';
import type { NumberLimit, TriedNumber, VelocityDigests } from '../domain/velocity.ts';
import type { CountCall, RateLimit } from '../store/rate-limits.ts';
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
  countNumber: (context: Context, tried: TriedNumber, limit: NumberLimit) => Promise<number | undefined>;
  digestsOf: VelocityDigests;
}

export type LimitVelocity = (context: Context, body: unknown) => Promise<void>;

export const createVelocityLimit =
  ({ countCard, countNumber, digestsOf }: VelocityDeps): LimitVelocity =>
  async (context, body) => {
    const { operation, caller, selection, budget } = context;
    const { id, velocityLimit }: Operation = operation;
    if (!velocityLimit || selection.kind !== 'one') return;
    const account = selection.id;
    // A digest, because the key of a counter has at most 255 characters.
    const owner = createHash('sha256')
      .update(JSON.stringify([caller.keyPairId, account]))
      .digest('base64url');
    const milliseconds = await countCard(scopeOf(id), owner, budget);
    if (milliseconds !== undefined) throw tooMany(milliseconds, 'too many cards of one key pair in a minute');
    const { number } = body as { number: string };
    for (const tried of digestsOf(account, number)) {
      const wait = await countNumber(context, tried, velocityLimit.sameBinAndLastFour);
      if (wait !== undefined)
        throw tooMany(wait, 'too many numbers with the same BIN and last four digits in a day');
    }
  };
