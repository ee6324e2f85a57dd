// Idempotency keys with their answers. A key is claimed by one committed statement before the request is carried out, and
// its answer is stored in the transaction of the change: see docs/decisions/0011.
import { sql } from 'kysely';
import type { Db, Tx } from '../../database/database.ts';

/** A slot stands for one key of one key pair in one account, so it tells nothing that `account` does not. */
export interface Slot {
  account: string;
  slot: string;
}

interface KnownKey {
  fingerprint: string;
  answer_sealed: string | null;
  /** The answer was erased with the buyer that it showed. */
  isErased: boolean;
}

/** Longer than a request without faults can take: a provider has 5 s, a connection 2 s, a statement 3 s. */
const claimSeconds = 15;

// Claims are measured by the clock of the database, which all instances share. A claim with an answer does not lapse.
const settled = sql`'infinity'::timestamptz`;

/** Undefined when the slot can be claimed. `since`: older keys have expired. */
export async function findIdempotencyKey(
  db: Db,
  { account, slot }: Slot,
  since: Date,
): Promise<KnownKey | undefined> {
  const { rows } = await sql<KnownKey>`
    select fingerprint, answer_sealed, answer_sealed is null and claimed_until = ${settled} as "isErased"
    from idempotency_keys where merchant_account_id = ${account} and slot = ${slot}
      and created_at > ${since} and claimed_until > clock_timestamp()`.execute(db);
  return rows[0];
}

interface NewClaim extends Slot {
  fingerprint: string;
  claim: string;
  now: Date;
  since: Date;
}

/** A claim that was made. */
export interface Claimed extends Slot {
  claim: string;
}

// Only immutable functions are allowed here (docs/scaling.md), so the new claim tells the time. The difference of infinite times is an error.
const isLapsed = sql<boolean>`case when isfinite(key.claimed_until)
  then excluded.claimed_until - key.claimed_until >= make_interval(secs => ${claimSeconds}) else false end`;

/** Undefined when another request has the key, or an answer is kept. One statement, so it needs no transaction. */
export async function claimIdempotencyKey(db: Db, wanted: NewClaim): Promise<Claimed | undefined> {
  const { account, slot, fingerprint, claim, now, since } = wanted;
  const { numAffectedRows = 0n } = await sql`
    insert into idempotency_keys as key (merchant_account_id, slot, fingerprint, claim, claimed_until, created_at)
    values (${account}, ${slot}, ${fingerprint}, ${claim},
      clock_timestamp() + make_interval(secs => ${claimSeconds}), ${now})
    on conflict (merchant_account_id, slot) do update set
      fingerprint = excluded.fingerprint, claim = excluded.claim, claimed_until = excluded.claimed_until,
      created_at = excluded.created_at, answer_sealed = null, resource_id = null
    where key.created_at <= ${since} or ${isLapsed}`.execute(db);
  return numAffectedRows > 0n ? { account, slot, claim } : undefined;
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
    update idempotency_keys
    set claimed_until = ${settled}, answer_sealed = ${answer_sealed}, resource_id = ${resourceId ?? null}
    where ${ofClaim(key)}`.execute(tx);
  return numAffectedRows > 0n;
}

/** Leaves a key alone whose answer is kept: the commit of a change may have succeeded although the service saw it fail. */
export const releaseIdempotencyKey = (db: Db, key: Claimed) =>
  db.deleteFrom('idempotency_keys').where(ofClaim(key)).execute();
