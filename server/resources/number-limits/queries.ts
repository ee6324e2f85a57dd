// Counts which card numbers, and which PINs of gift cards, were tried lately: see rules.ts.
import { sql } from 'kysely';
import type { Db } from '../../kit/database/database.ts';
import { runText } from '../../kit/database/execution.ts';
import type { DatabaseTime } from '../../kit/rules/database-time.ts';
import { waitOf, type NumberLimit, type TriedNumber } from './rules.ts';

/**
 * Counts numbers, in their order. Returns for each: undefined when it is within the limit, otherwise the milliseconds until a new number
 * will be. A statement names each bucket once, because it cannot change a row twice, and in order, so that two statements cannot deadlock.
 * A number that closes a bucket also closes it for those that follow, and one that was just counted is not counted again: so there are
 * not more statements than a limit has numbers, and one.
 */
export async function recordNumbers(
  db: Db,
  numbers: readonly TriedNumber[],
  limit: NumberLimit,
): Promise<(number | undefined)[]> {
  const waits: (number | undefined)[] = [];
  const counted = new Set<string>();
  let left = [...numbers.entries()];
  while (left.length > 0) {
    const next = new Map(left.toReversed().map(([, tried]) => [tried.bucket, tried]));
    const found = await recordOnce(db, [...next.values()], limit);
    for (const tried of next.values()) counted.add(nameOf(tried));
    const waiting = new Set<string>();
    left = left.filter(([index, tried]) => {
      const wait = found.get(tried.bucket);
      const isDecided = wait !== undefined || (!waiting.has(tried.bucket) && counted.has(nameOf(tried)));
      if (isDecided) waits[index] = wait;
      else waiting.add(tried.bucket);
      return !isDecided;
    });
  }
  return waits;
}

const nameOf = ({ bucket, number }: TriedNumber): string => `${bucket} ${number}`;

/**
 * The row of a bucket decides, and nothing else: whoever changes it waits for others who do, and then sees what they wrote. A number that
 * is counted when the bucket is full closes it. A closed bucket changes only as its numbers get old. By the clock of the database: an
 * instance whose clock is ahead would forget the numbers of the others. `excluded` tells the time, because Citus allows only immutable
 * functions after `on conflict`. Times that are ahead are those of an instance of 1.1.0 with a wrong clock.
 */
async function recordOnce(
  db: Db,
  tried: readonly TriedNumber[],
  limit: NumberLimit,
): Promise<Map<string, number | undefined>> {
  const { rows } = await runText<Bucket>(db, recordText, [
    tried.map(({ bucket }) => bucket),
    tried.map(({ number }) => number),
    limit.limit,
    limit.windowSeconds * 1000,
  ]);
  return new Map(rows.map(({ bucket, seen, now }) => [bucket, waitOf(Object.values(seen), limit, now)]));
}

export const recordText = `
  insert into number_buckets as known (bucket, seen, changed_at)
  select bucket, jsonb_build_object(number, (1000 * extract(epoch from now()::timestamptz(3)))::bigint), now()
  from unnest($1::text[], $2::text[]) as tried (bucket, number) order by bucket
  on conflict (bucket) do update set changed_at = excluded.changed_at, seen = (
    select coalesce(jsonb_object_agg(number, least(at::bigint, time)), '{}')
      || case when count(*) > $3 then '{}' else excluded.seen end
    from jsonb_each(known.seen) as one (number, at)
    cross join (select max(at::bigint) as time from jsonb_each(excluded.seen) as tried (number, at)) as clock
    where at::bigint > time - $4::bigint
  )
  returning bucket, seen, changed_at as now`;

interface Bucket {
  bucket: string;
  /** When each number was tried last, in milliseconds. */
  seen: Record<string, number>;
  now: DatabaseTime;
}

/** The same, without counting anything. Waits for numbers that are being counted, as they wait for each other. */
export async function findWait(
  db: Db,
  { bucket }: TriedNumber,
  limit: NumberLimit,
): Promise<number | undefined> {
  const found = await db
    .selectFrom('number_buckets')
    .select(['seen', sql<DatabaseTime>`now()::timestamptz(3)`.as('now')])
    .where('bucket', '=', bucket)
    .forUpdate()
    .executeTakeFirst();
  return found && waitOf(Object.values(found.seen), limit, found.now);
}
