// Rewrites fingerprints that were made with an older key, or in the form of before 1.2, while the service runs: account by
// account, in small transactions that also note how far it is. Does not touch `updated_at`, and sends no events.
import { sql, type RawBuilder, type Selectable } from 'kysely';
import { acrossAccounts } from './across-accounts.ts';
import type { Db, Tx } from './database.ts';
import type { PaymentMethodRow } from './payment-methods.ts';
import type { FingerprintProgressTable } from './tables/fingerprints.ts';

export type Progress = Selectable<FingerprintProgressTable>;

/** Cards with a fingerprint of the old form or of one of these versions, also in a pending replacement. */
function isOutdated(older: readonly string[]): RawBuilder<boolean> {
  const replacement = (name: string) => sql`has_replacement and replacement ->> ${sql.lit(name)}`;
  const oldForm = sql<boolean>`(fingerprint is not null or ${replacement('fingerprint')} is not null)`;
  if (older.length === 0) return oldForm;
  const isOlder = (value: RawBuilder<unknown>) =>
    sql`split_part(${value}, '.', 1) = any(${[...older]}::text[])`;
  return sql<boolean>`(${oldForm} or ${isOlder(sql`account_fingerprint`)}
    or has_replacement and ${isOlder(sql`replacement ->> 'account_fingerprint'`)})`;
}

/** Accounts that are not rewritten, or in which an instance with an older key or version has stored a card since. */
export async function listOutdatedAccounts(
  db: Db,
  version: string,
  older: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select merchant_account_id as id from fingerprint_progress
    where phase <> 'done' or version <> ${version}
    union
    select distinct merchant_account_id from payment_methods where ${isOutdated(older)}
    -- Another version is that of a newer key, which this instance does not have: it must not undo what others do.
    except
    select merchant_account_id from fingerprint_progress
    where version <> all(${['', version, ...older]}::text[])
    order by id ${acrossAccounts('outdated-fingerprints')}`.execute(db);
  return rows.map(({ id }) => id);
}

/** Continues an interrupted rewrite to this version, or begins one. */
export async function beginRewrite(db: Tx, account: string, version: string): Promise<Progress> {
  const { rows } = await sql<Progress>`
    insert into fingerprint_progress as known (merchant_account_id, version, phase) values (${account}, ${version}, 'cards')
    on conflict (merchant_account_id) do update set
      version = excluded.version,
      phase = case when known.version = excluded.version and known.phase <> 'done' then known.phase else 'cards' end,
      after = case when known.version = excluded.version and known.phase <> 'done' then known.after end,
      -- An account that was rewritten has only cards that came later: what else it shows is of this version.
      whole = known.version <> excluded.version or known.phase <> 'done' and known.whole
    returning *`.execute(db);
  const [progress] = rows;
  if (!progress) throw new Error('The progress was not stored.');
  return progress;
}

export async function noteProgress(
  db: Tx,
  { merchant_account_id: account, phase, after }: Pick<Progress, 'merchant_account_id' | 'phase' | 'after'>,
): Promise<void> {
  await sql`
    update fingerprint_progress set phase = ${phase}, after = ${after}
    where merchant_account_id = ${account}`.execute(db);
  if (phase === 'done')
    await sql`delete from fingerprint_moves where merchant_account_id = ${account}`.execute(db);
}

const batchSize = 200;
const first = 'infinity|ffffffff-ffff-ffff-ffff-ffffffffffff';

/** Newest first, as the index has them. `after` is the place of the last row: its time and ID. */
const olderThan = (after: string | null) => {
  const [time = '', id = ''] = (after ?? first).split('|');
  return sql`(created_at, id) < (${time}::timestamptz, ${id}::uuid)`;
};
/** Oldest first, as erasure locks events, so that the two cannot deadlock. A version before 1.3 noted an ID alone: again from the start. */
const newerThan = (after: string | null) => {
  const [time = '', id] = after?.split('|') ?? [];
  return id === undefined ? sql`true` : sql`(created_at, id) > (${time}::timestamptz, ${id}::uuid)`;
};
const place = sql<string>`created_at::text || '|' || id`;

export type OutdatedCard = Pick<
  PaymentMethodRow,
  'id' | 'status' | 'account_fingerprint' | 'fingerprint' | 'number_sealed' | 'replacement'
>;

/** Locks the next cards of the account. `after` is undefined when there is none. */
export async function lockOutdatedCards(
  db: Tx,
  { merchant_account_id: account, after }: Progress,
  older: readonly string[],
): Promise<{ cards: OutdatedCard[]; after: string | undefined }> {
  const { rows: found } = await sql<{ id: string; place: string }>`
    select id, ${place} as place from payment_methods
    where merchant_account_id = ${account} and ${olderThan(after)} and ${isOutdated(older)}
    order by created_at desc, id desc limit ${batchSize}`.execute(db);
  // Locked in the order of their IDs, as elsewhere, so that two transactions cannot deadlock.
  const { rows: cards } = await sql<OutdatedCard>`
    select id, status, account_fingerprint, fingerprint, number_sealed, replacement from payment_methods
    where merchant_account_id = ${account} and id = any(${found.map(({ id }) => id)}::uuid[]) and ${isOutdated(older)}
    order by id for no key update`.execute(db);
  return { cards, after: found.at(-1)?.place };
}

export interface RewrittenCard {
  id: string;
  account_fingerprint: string | null;
  /** Undefined when there is none, or it has no number. */
  replacement_fingerprint: string | undefined;
}

export async function saveFingerprint(db: Tx, account: string, card: RewrittenCard): Promise<void> {
  const { id, account_fingerprint, replacement_fingerprint: next } = card;
  const replaced = { fingerprint: null, account_fingerprint: next };
  await sql`
    update payment_methods set account_fingerprint = ${account_fingerprint}, fingerprint = null
      ${next === undefined ? sql`` : sql`, replacement = replacement || ${JSON.stringify(replaced)}::jsonb`}
    where merchant_account_id = ${account} and id = ${id}`.execute(db);
}

/** What a fingerprint became. A card with a number decides; without one it is null. */
export async function saveMove(db: Tx, account: string, old: string, fresh: string | null): Promise<void> {
  // If the key changes before a rewrite has ended, snapshots still show what came before `old`.
  await sql`
    update fingerprint_moves set fresh = ${fresh}
    where merchant_account_id = ${account} and fresh = ${old}`.execute(db);
  await sql`
    insert into fingerprint_moves as known (merchant_account_id, old, fresh) values (${account}, ${old}, ${fresh})
    on conflict (merchant_account_id, old) do update set fresh = coalesce(excluded.fresh, known.fresh)`.execute(
    db,
  );
}

interface Batch {
  rewritten: number;
  /** Undefined when there are no more rows. */
  after: string | undefined;
}

/**
 * Whether a card has `batch.old` now: one of this version, or one that is not rewritten yet, because an older instance has stored
 * it since or its number did not open. The next rewrite finds that card, so its fingerprint must not become null before.
 */
const isOfCard = ({ merchant_account_id: account, version }: Progress, older: readonly string[]) =>
  sql`(exists (select from payment_methods where merchant_account_id = ${account}
      and account_fingerprint = any(select unnest(${[version, ...older]}::text[]) || '.' || batch.old))
    or exists (select from payment_methods where merchant_account_id = ${account} and fingerprint = batch.old))`;

// Text of JSON: a quotation mark inside a string is escaped, so this matches the property only.
const property = (old: RawBuilder<unknown>) => sql`'"fingerprint":"' || ${old} || '"'`;
const replaced = (text: RawBuilder<unknown>) =>
  sql`replace(${text}, ${property(sql`change.old`)},
    '"fingerprint":' || coalesce('"' || change.fresh || '"', 'null'))`;

/** Snapshots of cards in transactions. */
export async function rewriteTransactions(
  db: Tx,
  progress: Progress,
  older: readonly string[],
): Promise<Batch> {
  const { merchant_account_id: account, after, whole } = progress;
  const { rows } = await sql<Batch & { after: string | null }>`
    with batch as (
      select id, created_at, payment_method ->> 'fingerprint' as old from transactions
      where merchant_account_id = ${account} and ${olderThan(after)}
      -- The order in which erasure locks them.
      order by created_at desc, id desc limit ${batchSize} for no key update
    ), change as (
      select batch.id, batch.old, moves.fresh from batch
      left join fingerprint_moves as moves on moves.merchant_account_id = ${account} and moves.old = batch.old
      where batch.old ~ '^[0-9a-f]{64}$' and (moves.old is not null or ${whole} and not ${isOfCard(progress, older)})
    ), done as (
      update transactions set payment_method = ${replaced(sql`payment_method::text`)}::json
      from change where transactions.merchant_account_id = ${account} and transactions.id = change.id
        and payment_method ->> 'fingerprint' = change.old
      returning 1
    )
    select (select count(*) from done) as rewritten,
      (select ${place} from batch order by created_at, id limit 1) as after`.execute(db);
  return { rewritten: rows[0]?.rewritten ?? 0, after: rows[0]?.after ?? undefined };
}

/** Stored events. The signature is made when an event is sent, over the body as it then is. */
export async function rewriteEvents(db: Tx, progress: Progress, older: readonly string[]): Promise<Batch> {
  const { merchant_account_id: account, after, whole } = progress;
  // Failed cards have no fingerprint. The status of a payment method is the only `status` in its events.
  const isFailed = sql`(batch.name like 'payment-method.%' and batch.body like '%"status":"failed"%')`;
  const { rows } = await sql<Batch & { after: string | null }>`
    with batch as (
      select id, created_at, name, body, substring(body from '"fingerprint":"([0-9a-f]{64})"') as old from events
      where merchant_account_id = ${account} and ${newerThan(after)}
      order by created_at, id limit ${batchSize} for no key update
    ), change as (
      select batch.id, batch.created_at, batch.old, case when ${isFailed} then null else moves.fresh end as fresh from batch
      left join fingerprint_moves as moves on moves.merchant_account_id = ${account} and moves.old = batch.old
      where batch.old is not null and (moves.old is not null or ${isFailed} or ${whole} and not ${isOfCard(progress, older)})
    ), done as (
      update events set body = ${replaced(sql`body`)} from change
      where events.merchant_account_id = ${account} and events.created_at = change.created_at
        and events.id = change.id
      returning 1
    )
    select (select count(*) from done) as rewritten,
      (select ${place} from batch order by created_at desc, id desc limit 1) as after`.execute(db);
  return { rewritten: rows[0]?.rewritten ?? 0, after: rows[0]?.after ?? undefined };
}

/** How many cards have a fingerprint of which version; `null` is the form of before 1.2. */
export async function countFingerprints(db: Db): Promise<Map<string | null, number>> {
  const { rows } = await sql<{ version: string | null; total: number }>`
    select case when fingerprint is null then split_part(account_fingerprint, '.', 1) end as version, count(*) as total
    from payment_methods where fingerprint is not null or account_fingerprint is not null group by 1
    ${acrossAccounts('fingerprint-versions')}`.execute(db);
  return new Map(rows.map(({ version, total }) => [version, total]));
}

/** The versions of some cards, as `sampleKeyIds` samples keys: not of the first that have one, because those may be the last of millions. The form of before 1.2 has none: it is rewritten at the start. */
export async function sampleVersions(db: Db): Promise<string[]> {
  const { rows } = await sql<{ version: string }>`
    select distinct split_part(account_fingerprint, '.', 1) as version from (
      select account_fingerprint from payment_methods order by id limit 1000) as sample
    where account_fingerprint is not null
    ${acrossAccounts('fingerprint-versions')}`.execute(db);
  return rows.map(({ version }) => version);
}

export const listUnfinished = (db: Db) =>
  db
    .selectFrom('fingerprint_progress')
    .select(['merchant_account_id', 'phase'])
    .where('phase', '<>', 'done')
    .orderBy('merchant_account_id')
    .modifyEnd(acrossAccounts('fingerprint-versions'))
    .execute();
