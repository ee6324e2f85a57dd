// Idempotency keys with their answers. A key is claimed by one committed statement before the request is carried out, and
// its answer is stored in the transaction of the change: see docs/decisions/0011.
import { sql } from 'kysely';
import type { Db, Tx } from './database.ts';

/** A slot stands for one key of one key pair in one account, so it tells nothing that `account` does not. */
export interface Slot {
  account: string;
  slot: string;
}

interface KnownKey {
  id: string;
  slot: string;
  fingerprint: string;
  answer_sealed: string | null;
  /** The answer was erased with the buyer that it showed. */
  isErased: boolean;
}

/** Longer than a request without faults can take: a provider has 5 s, a connection 2 s, a statement 3 s. */
const leaseSeconds = 15;

// Leases are measured by the clock of the database, which all instances share. A claim with an answer does not lapse.
const settled = sql`'infinity'::timestamptz`;

/** Undefined when the slot can be claimed. `since`: older keys have expired. */
export async function findIdempotencyKey(
  db: Db,
  { account, slot }: Slot,
  since: Date,
): Promise<KnownKey | undefined> {
  const { rows } = await sql<KnownKey>`
    select key.id, key.slot, key.fingerprint, answer.answer_sealed,
      answer.answer_sealed is null and key.claimed_until = ${settled} as "isErased"
    from idempotency_keys as key
    left join idempotency_answers as answer
      on answer.merchant_account_id = key.merchant_account_id and answer.id = key.id
      and answer.created_at = key.created_at and answer.created_at > ${since} and answer.claim = key.claim
    where key.merchant_account_id = ${account} and key.slot = ${slot}
      and key.created_at > ${since} and key.claimed_until > clock_timestamp()`.execute(db);
  return rows[0];
}

interface NewClaim extends Slot {
  fingerprint: string;
  claim: string;
  now: Date;
  since: Date;
}

/** A claim that was made. The account is that of the row. */
export interface Claimed extends Slot {
  id: string;
  claim: string;
}

// Citus allows only immutable functions here, so the new lease tells the time. The difference of infinite times is an error.
const isLapsed = sql<boolean>`case when isfinite(key.claimed_until)
  then excluded.claimed_until - key.claimed_until >= make_interval(secs => ${leaseSeconds}) else false end`;

/** Undefined when another request has the key, or an answer is kept. One statement, so it needs no transaction. */
export async function claimIdempotencyKey(db: Db, wanted: NewClaim): Promise<Claimed | undefined> {
  const { account, slot, fingerprint, claim, now, since } = wanted;
  const { rows } = await sql<{ id: string }>`
    insert into idempotency_keys as key (merchant_account_id, slot, fingerprint, claim, claimed_until, created_at)
    values (${account}, ${slot}, ${fingerprint}, ${claim},
      clock_timestamp() + make_interval(secs => ${leaseSeconds}), ${now})
    on conflict (merchant_account_id, slot) do update set
      fingerprint = excluded.fingerprint, claim = excluded.claim, claimed_until = excluded.claimed_until,
      created_at = excluded.created_at
    where key.created_at <= ${since} or ${isLapsed}
    returning id`.execute(db);
  return rows[0] && { account, slot, claim, ...rows[0] };
}

const ofClaim = ({ account, slot, claim }: Claimed) =>
  sql<boolean>`merchant_account_id = ${account} and slot = ${slot} and claim = ${claim}
    and claimed_until < ${settled}`;

/** False when the claim has lapsed and another request has it. */
export async function settleIdempotencyKey(
  tx: Tx,
  key: Claimed,
  answer_sealed: string,
  resourceId: string | undefined,
): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    with ours as (
      update idempotency_keys set claimed_until = ${settled} where ${ofClaim(key)}
      returning merchant_account_id, id, slot, claim, created_at
    )
    insert into idempotency_answers (merchant_account_id, id, slot, claim, created_at, answer_sealed, resource_id)
    select merchant_account_id, id, slot, claim, created_at, ${answer_sealed}, ${resourceId ?? null}::uuid from ours`.execute(
    tx,
  );
  return numAffectedRows > 0n;
}

/** Leaves a key alone whose answer is kept: the commit of a change may have succeeded although the service saw it fail. */
export const releaseIdempotencyKey = (db: Db, key: Claimed) =>
  db.deleteFrom('idempotency_keys').where(ofClaim(key)).execute();
