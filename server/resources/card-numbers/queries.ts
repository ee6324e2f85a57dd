// Which card numbers, and which PINs of gift cards, were tried lately, as keyed digests: see resources/card-numbers/rules.ts.
import { sql } from 'kysely';
import { inTransaction, type Db } from '../../database/database.ts';
import { lockUntilCommit } from '../../database/unit-of-work.ts';
import { judgeNumber, type NumberLimit, type TriedNumber, type Verdict } from './rules.ts';

/**
 * Counts a number. Undefined when it is within the limit, otherwise the milliseconds until a new number is. On one connection: if
 * new numbers waited for a second one, a known number that is sent with a thousand guesses would overtake them.
 */
export const countCardNumber = (
  db: Db,
  tried: TriedNumber,
  limit: NumberLimit,
  now: Date,
): Promise<number | undefined> =>
  db.connection().execute(async (own) => {
    const seen = await listAndNoteKnown(own, tried, limit, now);
    const verdict =
      seen.length > limit.limit || seen.some(({ number }) => number === tried.number)
        ? judgeNumber(seen, tried.number, now, limit)
        : await countNewNumber(own, tried, limit, now);
    return verdict.passes ? undefined : verdict.retryMilliseconds;
  });

/** The usual case in one statement: a known number, unless its bucket is closed. `judgeNumber` accepts the same. */
async function listAndNoteKnown(
  db: Db,
  { bucket, number }: TriedNumber,
  { limit, windowSeconds }: NumberLimit,
  now: Date,
): Promise<Seen[]> {
  const isSeen = sql`bucket = ${bucket} and seen_at > ${new Date(now.getTime() - windowSeconds * 1000)}`;
  const { rows } = await sql<Seen>`
    with seen as (select number, seen_at as at from card_numbers where ${isSeen}),
    noted as (
      update card_numbers set seen_at = ${now}
      where ${isSeen} and number = ${number} and (select count(*) from seen) <= ${limit}
    )
    select * from seen`.execute(db);
  return rows;
}

interface Seen {
  number: string;
  at: Date;
}

/** New numbers that arrive at the same time, on any instance, are counted one after the other. */
const countNewNumber = (db: Db, tried: TriedNumber, limit: NumberLimit, now: Date): Promise<Verdict> =>
  inTransaction(db, async (tx) => {
    await lockUntilCommit(tx, `card numbers ${tried.bucket}`);
    const verdict = judgeNumber(await listSeen(tx, tried, limit, now), tried.number, now, limit);
    if (verdict.passes || verdict.notes) await note(tx, tried, now);
    return verdict;
  });

const listSeen = (db: Db, { bucket }: TriedNumber, { windowSeconds }: NumberLimit, now: Date) =>
  db
    .selectFrom('card_numbers')
    .select(['number', 'seen_at as at'])
    .where('bucket', '=', bucket)
    .where('seen_at', '>', new Date(now.getTime() - windowSeconds * 1000))
    .execute();

const note = (db: Db, { bucket, number }: TriedNumber, now: Date) =>
  db
    .insertInto('card_numbers')
    .values({ bucket, number, seen_at: now })
    .onConflict((conflict) => conflict.columns(['bucket', 'number']).doUpdateSet({ seen_at: now }))
    .execute();
