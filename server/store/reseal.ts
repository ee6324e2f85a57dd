// Re-encrypts all secrets after a rotation of the card key, while the service runs: in small batches, without waiting for
// locked rows, and only values that have not changed since they were read.
import { sql, type RawBuilder } from 'kysely';
import type { Purpose } from '../domain/vault.ts';
import { inTransaction, type Db } from './database.ts';

interface Sealed {
  table: 'payment_methods' | 'gift_cards' | 'webhook_subscriptions' | 'idempotency_keys';
  purpose: Purpose;
  /** SQL expression that reads the sealed text. */
  value: RawBuilder<string>;
  /** SQL assignment that replaces the sealed text with `given.fresh`. */
  assignment: RawBuilder<unknown>;
}

const column = (table: Sealed['table'], name: string, purpose: Purpose): Sealed => ({
  table,
  purpose,
  value: sql`${sql.ref(`${table}.${name}`)}`,
  assignment: sql`${sql.ref(name)} = given.fresh`,
});

// A test compares this list with the columns in the database.
export const sealedColumns: readonly Sealed[] = [
  column('payment_methods', 'number_sealed', 'card'),
  {
    table: 'payment_methods',
    purpose: 'card',
    value: sql`(payment_methods.replacement ->> 'number_sealed')`,
    assignment: sql`replacement = jsonb_set(payment_methods.replacement, '{number_sealed}', to_jsonb(given.fresh))`,
  },
  column('gift_cards', 'number_sealed', 'gift-card'),
  column('gift_cards', 'pin_sealed', 'gift-card'),
  column('webhook_subscriptions', 'password_sealed', 'webhook'),
  column('webhook_subscriptions', 'secret_sealed', 'webhook'),
  column('webhook_subscriptions', 'old_secret_sealed', 'webhook'),
  column('idempotency_keys', 'answer_sealed', 'answer'),
];

/** How many values are sealed with which key. */
export async function countSealed(db: Db): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (const { table, value } of sealedColumns) {
    const { rows } = await sql<{ key: string; total: number }>`
      select split_part(${value}, '.', 1) as key, count(*) as total from ${sql.table(table)}
      where ${value} is not null group by 1`.execute(db);
    for (const { key, total } of rows) counts.set(key, (counts.get(key) ?? 0) + total);
  }
  return counts;
}

/** Calls `look` with every sealed value, in batches. */
export async function listSealed(
  db: Db,
  look: (value: { table: string; id: string; sealed: string; purpose: Purpose }) => void,
): Promise<void> {
  for (const { table, purpose, value } of sealedColumns) {
    for (let after = '00000000-0000-0000-0000-000000000000'; ;) {
      const { rows } = await sql<{ id: string; sealed: string }>`
        select id, ${value} as sealed from ${sql.table(table)}
        where id > ${after}::uuid and ${value} is not null order by id limit 1000`.execute(db);
      for (const row of rows) look({ table, purpose, ...row });
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
  reseal: (sealed: string, purpose: Purpose) => string;
  /** Called after each batch with the number of its values. */
  onProgress: (resealed: number) => void;
}

/** One pass over all values. Locked rows are left for the next pass. */
export async function resealAll(db: Db, options: ResealOptions): Promise<void> {
  for (const place of sealedColumns) {
    let after: string | undefined = '00000000-0000-0000-0000-000000000000';
    while (after !== undefined) after = await resealBatch(db, place, after, options);
  }
}

/** Returns where the next batch starts. Does not touch `updated_at`, because nothing visible changes. */
function resealBatch(
  db: Db,
  { table, purpose, value, assignment }: Sealed,
  after: string,
  { keyId, reseal, onProgress }: ResealOptions,
): Promise<string | undefined> {
  return inTransaction(db, async (transaction) => {
    const { rows } = await sql<{ id: string; old: string }>`
      select id, ${value} as old from ${sql.table(table)}
      where id > ${after}::uuid and ${value} is not null and split_part(${value}, '.', 1) <> ${keyId}
      order by id limit ${batchSize} for no key update skip locked`.execute(transaction);
    if (rows.length === 0) return undefined;
    const given = rows.map(({ id, old }) => ({ id, old, fresh: reseal(old, purpose) }));
    await sql`
      update ${sql.table(table)} set ${assignment}
      from json_to_recordset(${JSON.stringify(given)}::json) as given (id uuid, old text, fresh text)
      where ${sql.ref(`${table}.id`)} = given.id and ${value} = given.old`.execute(transaction);
    onProgress(rows.length);
    return rows.at(-1)?.id;
  });
}

/**
 * Waits until all transactions that are running now have ended. Values are sealed inside transactions, so after that no value
 * with an older key can be committed.
 */
export async function waitForOlderTransactions(db: Db, pause: () => Promise<void>): Promise<void> {
  const { rows } = await sql<{ now: string }>`select clock_timestamp()::text as now`.execute(db);
  const since = rows[0]?.now ?? '';
  for (;;) {
    const { rows: left } = await sql`
      select 1 from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and xact_start < ${since}::timestamptz
        and backend_type = 'client backend' limit 1`.execute(db);
    if (left.length === 0) return;
    await pause();
  }
}
