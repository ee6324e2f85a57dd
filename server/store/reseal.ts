// Re-encrypts all secrets after a rotation of the card key, and binds them to their places, while the service runs: in small
// batches, without waiting for locked rows, and only values that have not changed since they were read.
import { sql, type RawBuilder } from 'kysely';
import { noOwner, ownerOfSeveral } from '../domain/idempotency.ts';
import type { Place, Purpose } from '../domain/vault.ts';
import { acrossAccounts } from './across-accounts.ts';
import { inTransaction, type Db } from './database.ts';
import { lockHolder } from './locks.ts';
import { listAccounts } from './merchant-accounts.ts';

interface Sealed {
  table:
    'payment_methods' | 'gift_cards' | 'webhook_subscriptions' | 'idempotency_keys' | 'idempotency_answers';
  purpose: Purpose;
  /** The column that the `owner` of its places comes from. */
  owner: 'merchant_account_id' | 'slot';
  /** SQL expression that reads the sealed text. */
  value: RawBuilder<string>;
  /** SQL assignment that replaces the sealed text with `given.fresh`. */
  assignment: RawBuilder<unknown>;
}

const column = (table: Sealed['table'], name: string, purpose: Purpose): Sealed => ({
  table,
  purpose,
  owner: purpose === 'answer' ? 'slot' : 'merchant_account_id',
  value: sql`${sql.ref(`${table}.${name}`)}`,
  assignment: sql`${sql.ref(name)} = given.fresh`,
});

// A test compares this list with the columns in the database. A value that moves (a replacement becomes the number, a secret the
// old secret) has its source before its target, otherwise it could move past a count of what is left.
export const sealedColumns: readonly Sealed[] = [
  {
    table: 'payment_methods',
    purpose: 'card-number',
    owner: 'merchant_account_id',
    value: sql`(payment_methods.replacement ->> 'number_sealed')`,
    assignment: sql`replacement = jsonb_set(payment_methods.replacement, '{number_sealed}', to_jsonb(given.fresh))`,
  },
  column('payment_methods', 'number_sealed', 'card-number'),
  column('gift_cards', 'number_sealed', 'gift-card-number'),
  column('gift_cards', 'pin_sealed', 'gift-card-pin'),
  column('webhook_subscriptions', 'password_sealed', 'webhook-password'),
  column('webhook_subscriptions', 'secret_sealed', 'webhook-secret'),
  column('webhook_subscriptions', 'old_secret_sealed', 'webhook-secret'),
  column('idempotency_keys', 'answer_sealed', 'answer'),
  column('idempotency_answers', 'answer_sealed', 'answer'),
];

/** How many values are sealed with which key. */
export async function countSealed(db: Db): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (const { table, value } of sealedColumns) {
    const { rows } = await sql<{ key: string; total: number }>`
      select split_part(${value}, '.', 1) as key, count(*) as total from ${sql.table(table)}
      where ${value} is not null group by 1 ${acrossAccounts('sealed-values')}`.execute(db);
    for (const { key, total } of rows) counts.set(key, (counts.get(key) ?? 0) + total);
  }
  return counts;
}

const isUnbound = (value: RawBuilder<string>) => sql<boolean>`split_part(${value}, '.', 2) <> '2'`;

/** How many values have the form of versions before 1.2. */
export async function countUnbound(db: Db): Promise<number> {
  let all = 0;
  for (const { table, value } of sealedColumns) {
    const { rows } = await sql<{ total: number }>`
      select count(*) as total from ${sql.table(table)}
      where ${value} is not null and ${isUnbound(value)} ${acrossAccounts('sealed-values')}`.execute(db);
    all += rows[0]?.total ?? 0;
  }
  return all;
}

const firstId = '00000000-0000-0000-0000-000000000000';

/** What to go through one after the other: each column of each merchant account, or of the whole table. */
async function listParts(db: Db): Promise<(Sealed & { isPart: RawBuilder<unknown> })[]> {
  const accounts = (await listAccounts(db)).map(({ id }) => id);
  return sealedColumns.flatMap((sealed) => {
    if (sealed.table === 'webhook_subscriptions') return { ...sealed, isPart: sql`true` };
    const owners = sealed.purpose === 'answer' ? [...accounts, ownerOfSeveral, noOwner] : accounts;
    return owners.map((owner) => ({ ...sealed, isPart: sql`merchant_account_id = ${owner}` }));
  });
}

/** Calls `look` with every sealed value, in batches. */
export async function listSealed(
  db: Db,
  look: (value: { table: string; sealed: string; place: Place }) => void,
): Promise<void> {
  for (const { table, purpose, owner, value, isPart } of await listParts(db)) {
    for (let after = firstId; ;) {
      const { rows } = await sql<{ id: string; owner: string | null; sealed: string }>`
        select id, ${sql.ref(owner)} as owner, ${value} as sealed from ${sql.table(table)}
        where ${isPart} and id > ${after}::uuid and ${value} is not null order by id limit 1000`.execute(db);
      for (const { sealed, ...row } of rows) look({ table, sealed, place: { purpose, ...row } });
      const last = rows.at(-1);
      if (!last) break;
      after = last.id;
    }
  }
}

const batchSize = 200;

export interface ResealOptions {
  /** The key that all values must use. */
  keyId: string;
  /** Whether unbound values are sealed anew, too. */
  binds: boolean;
  reseal: (value: { table: string; sealed: string; place: Place }) => string;
  /** Called after each batch with the number of its values. */
  onProgress: (resealed: number) => void;
}

/** One pass over all values. Locked rows are left for the next pass. */
export async function resealAll(db: Db, options: ResealOptions): Promise<void> {
  for (const part of await listParts(db)) {
    let after: string | undefined = firstId;
    while (after !== undefined) after = await resealBatch(db, part, after, options);
  }
}

/** Returns where the next batch starts. Does not touch `updated_at`, because nothing visible changes. */
function resealBatch(
  db: Db,
  { table, purpose, owner, value, assignment, isPart }: Awaited<ReturnType<typeof listParts>>[number],
  after: string,
  { keyId, binds, reseal, onProgress }: ResealOptions,
): Promise<string | undefined> {
  return inTransaction(db, async (transaction) => {
    const { rows } = await sql<{ id: string; owner: string | null; old: string }>`
      select id, ${sql.ref(owner)} as owner, ${value} as old from ${sql.table(table)}
      where ${isPart} and id > ${after}::uuid and ${value} is not null
        and (split_part(${value}, '.', 1) <> ${keyId} or ${binds} and ${isUnbound(value)})
      order by id limit ${batchSize} for no key update skip locked`.execute(transaction);
    if (rows.length === 0) return undefined;
    const given = rows.map(({ old, ...row }) => ({
      id: row.id,
      old,
      fresh: reseal({ table, sealed: old, place: { purpose, ...row } }),
    }));
    await sql`
      update ${sql.table(table)} set ${assignment}
      from json_to_recordset(${JSON.stringify(given)}::json) as given (id uuid, old text, fresh text)
      where ${isPart} and ${sql.ref(`${table}.id`)} = given.id and ${value} = given.old`.execute(transaction);
    onProgress(rows.length);
    return rows.at(-1)?.id;
  });
}

/**
 * Waits until all transactions that are running now have ended. Values are sealed inside transactions, so after that no value
 * with an older key, and no unbound one, can be committed. The transactions of `withLock` store nothing; one of them is ours.
 */
export async function waitForOlderTransactions(db: Db, pause: () => Promise<void>): Promise<void> {
  const { rows } = await sql<{ now: string }>`select clock_timestamp()::text as now`.execute(db);
  const since = rows[0]?.now ?? '';
  for (;;) {
    const { rows: left } = await sql`
      select 1 from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and xact_start < ${since}::timestamptz
        and backend_type = 'client backend' and application_name is distinct from ${lockHolder} limit 1`.execute(
      db,
    );
    if (left.length === 0) return;
    await pause();
  }
}
