// Idempotency keys with their answers. A key is claimed by one committed statement before the request is carried out, and
// its answer is stored in the transaction of the change: see docs/decisions/0011. All times are of the clock of the database, which all
// instances share.
import { sql } from 'kysely';
import type { Db, Tx } from '../database/database.ts';
import { keepKeySeconds, type Claim } from './rules.ts';

/** Longer than a request without faults can take: a provider has 5 s, a connection 2 s, a statement 3 s. */
const claimSeconds = 15;

/** A claim with an answer does not lapse. */
const settled = sql`'infinity'::timestamptz`;

const seconds = (number: number) => sql`make_interval(secs => ${number})`;

/** Undefined when the key can be claimed. `isErased`: the answer was erased with the person that it showed. */
export async function findIdempotencyKey(db: Db, { account, slot }: Pick<Claim, 'account' | 'slot'>) {
  const { rows } = await sql<{ fingerprint: string; answer_sealed: string | null; isErased: boolean }>`
    select fingerprint, answer_sealed, answer_sealed is null and claimed_until = ${settled} as "isErased"
    from idempotency_keys where merchant_account_id = ${account} and slot = ${slot}
      and created_at > clock_timestamp() - ${seconds(keepKeySeconds)}
      and claimed_until > clock_timestamp()`.execute(db);
  return rows[0];
}

// Citus allows only immutable functions here, so the new claim tells the time. The difference of infinite times is an error.
const isOver = sql<boolean>`excluded.created_at - key.created_at >= ${seconds(keepKeySeconds)}
  or case when isfinite(key.claimed_until)
    then excluded.claimed_until - key.claimed_until >= ${seconds(claimSeconds)} else false end`;

/** False when another request has the key, or an answer is kept. One statement, so it needs no transaction. */
export async function claimIdempotencyKey(db: Db, claim: Claim): Promise<boolean> {
  const { account, slot, fingerprint, id } = claim;
  const { numAffectedRows = 0n } = await sql`
    insert into idempotency_keys as key (merchant_account_id, slot, fingerprint, claim, claimed_until, created_at)
    values (${account}, ${slot}, ${fingerprint}, ${id}, clock_timestamp() + ${seconds(claimSeconds)}, clock_timestamp())
    on conflict (merchant_account_id, slot) do update set
      fingerprint = excluded.fingerprint, claim = excluded.claim, claimed_until = excluded.claimed_until,
      created_at = excluded.created_at, answer_sealed = null, resource_id = null
    where ${isOver}`.execute(db);
  return numAffectedRows > 0n;
}

const isOwn = ({ account, slot, id }: Claim) =>
  sql<boolean>`merchant_account_id = ${account} and slot = ${slot} and claim = ${id}
    and claimed_until < ${settled}`;

/** False when the claim has lapsed and another request has it. */
export async function settleIdempotencyKey(
  tx: Tx,
  claim: Claim,
  answer_sealed: string,
  resourceId: string | undefined,
): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    update idempotency_keys
    set claimed_until = ${settled}, answer_sealed = ${answer_sealed}, resource_id = ${resourceId ?? null}
    where ${isOwn(claim)}`.execute(tx);
  return numAffectedRows > 0n;
}

/** Claims of one account. Leaves a key alone whose answer is kept: the commit of a change may have succeeded although the service saw it fail. */
export const releaseIdempotencyKeys = (db: Db, account: string, claims: readonly Claim[]) =>
  sql`
    delete from idempotency_keys
    where merchant_account_id = ${account} and slot = any(${claims.map(({ slot }) => slot)}::text[])
      and claim = any(${claims.map(({ id }) => id)}::uuid[]) and claimed_until < ${settled}`.execute(db);
