// Idempotency keys with their answers. A key is claimed by one committed statement before the request is carried out, and
// its answer is stored in the transaction of the change: see docs/decisions/0011.
import { sql } from 'kysely';
import type { Db, Tx } from './database.ts';

interface KnownKey {
  id: string;
  slot: string;
  fingerprint: string;
  answer_sealed: string | null;
}

/** Longer than a request without faults can take: a provider has 5 s, a connection 2 s, a statement 3 s. */
const leaseSeconds = 15;

// Leases are measured by the clock of the database, which all instances share.
const lapsed = sql<boolean>`answer_sealed is null and claimed_until <= clock_timestamp()`;

/** Undefined when the slot can be claimed. `since`: older keys have expired. */
export const findIdempotencyKey = (db: Db, slot: string, since: Date): Promise<KnownKey | undefined> =>
  db
    .selectFrom('idempotency_keys')
    .select(['id', 'slot', 'fingerprint', 'answer_sealed'])
    .where('slot', '=', slot)
    .where('created_at', '>', since)
    .where(sql<boolean>`not (${lapsed})`)
    .executeTakeFirst();

/** Undefined when another request has the key, or an answer is kept. One statement, so it needs no transaction. */
export async function claimIdempotencyKey(
  db: Db,
  key: { slot: string; fingerprint: string; claim: string; now: Date; since: Date },
): Promise<{ id: string } | undefined> {
  const { slot, fingerprint, claim, now, since } = key;
  const { rows } = await sql<{ id: string }>`
    insert into idempotency_keys as kept (slot, fingerprint, claim, claimed_until, created_at)
    values (${slot}, ${fingerprint}, ${claim}, clock_timestamp() + make_interval(secs => ${leaseSeconds}), ${now})
    on conflict (slot) do update set
      fingerprint = excluded.fingerprint, claim = excluded.claim, claimed_until = excluded.claimed_until,
      created_at = excluded.created_at, answer_sealed = null
    where kept.created_at <= ${since}
      or kept.answer_sealed is null and kept.claimed_until <= clock_timestamp()
    returning id`.execute(db);
  return rows[0];
}

interface Claimed {
  id: string;
  claim: string;
}

const ofClaim = ({ id, claim }: Claimed) =>
  sql<boolean>`id = ${id} and claim = ${claim} and answer_sealed is null`;

/** False when the claim has lapsed and another request has it. */
export async function settleIdempotencyKey(tx: Tx, key: Claimed, answer_sealed: string): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('idempotency_keys')
    .set({ answer_sealed })
    .where(ofClaim(key))
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Leaves a key alone whose answer is kept: the commit of a change may have succeeded although the service saw it fail. */
export const releaseIdempotencyKey = (db: Db, key: Claimed) =>
  db.deleteFrom('idempotency_keys').where(ofClaim(key)).execute();

export async function pruneIdempotencyKeys(db: Db, before: Date): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('idempotency_keys')
    .where('created_at', '<=', before)
    .executeTakeFirst();
  return Number(numDeletedRows);
}
