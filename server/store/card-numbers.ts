// Which card numbers were tried lately, as keyed digests: see domain/velocity.ts.
import { judgeNumber, type NumberLimit, type TriedNumber } from '../domain/velocity.ts';
import { inTransaction, type Db } from './database.ts';
import { lockUntilCommit } from './locks.ts';

/** Counts a number. Undefined when it is within the limit, otherwise the milliseconds until a new number is. */
export const countCardNumber = (
  db: Db,
  { bucket, number }: TriedNumber,
  limit: NumberLimit,
  now: Date,
): Promise<number | undefined> =>
  inTransaction(db, async (tx) => {
    // Requests that arrive at the same time, on any instance, are counted one after the other.
    await lockUntilCommit(tx, `card numbers ${bucket}`);
    const seen = await tx
      .selectFrom('card_numbers')
      .select(['number', 'seen_at as at'])
      .where('bucket', '=', bucket)
      .where('seen_at', '>', new Date(now.getTime() - limit.windowSeconds * 1000))
      .execute();
    const verdict = judgeNumber(seen, number, now, limit);
    if (verdict.passes || verdict.notes)
      await tx
        .insertInto('card_numbers')
        .values({ bucket, number, seen_at: now })
        .onConflict((conflict) => conflict.columns(['bucket', 'number']).doUpdateSet({ seen_at: now }))
        .execute();
    return verdict.passes ? undefined : verdict.retryMilliseconds;
  });

export async function pruneCardNumbers(db: Db, before: Date): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('card_numbers')
    .where('seen_at', '<=', before)
    .executeTakeFirst();
  return Number(numDeletedRows);
}
