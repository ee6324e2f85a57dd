// Goes through all sealed values, in batches along the keys of their tables, so that no statement takes long however many there
// are. A rotation of the card key re-encrypts them while the service runs: without waiting for locked rows, and only values that
// have not changed since they were read.
import { sql, type RawBuilder } from 'kysely';
import { packageName, programName } from '../../../generated/operations.ts';
import { acrossAccounts } from '../database/across-accounts.ts';
import type { SqlType } from '../database/columns.ts';
import { inTransaction, type Db } from '../database/database.ts';
import { lockHolder } from '../database/unit-of-work.ts';
import { OperatorFault } from '../faults.ts';
import type { AllFacts, SealedColumn, SealedFact } from '../maintenance/facts.ts';
import { groupByAccount } from '../rules/accounts.ts';
import type { Binding, Vault } from './vault.ts';

export interface Sealed extends SealedColumn {
  table: string;
  isByAccount: boolean;
  /** SQL expression for the ID that its values are bound to. */
  id: RawBuilder<string>;
  idType: SqlType;
}

/** In the order of the facts. A value that moves has its source before its target, otherwise it could move past a pass over the values. */
export const sealedColumnsOf = (facts: AllFacts): Sealed[] =>
  Object.entries(facts).flatMap(([table, { key, isByAccount, sealed }]) => {
    const [[id, idType = 'uuid'] = ['']] = Object.entries(key);
    return Object.entries<SealedFact>(sealed === 'none' ? {} : sealed).map(([name, fact]) => ({
      table,
      isByAccount,
      id: sql.ref<string>(`${table}.${id}`),
      idType,
      owner: sql.ref<string | null>(`${table}.merchant_account_id`),
      value: sql<string>`${sql.ref(`${table}.${name}`)}`,
      assignment: sql`${sql.ref(name)} = given.fresh`,
      only: sql`true`,
      ...(typeof fact === 'string' ? { purpose: fact } : fact),
    }));
  });

interface SealedValue {
  table: string;
  sealed: string;
  binding: Binding;
}

const batchSize = 1000;

/** Calls `look` with every sealed value that is not of this key, in batches; without a key, with all of them. */
async function eachBatch(
  db: Db,
  { table, purpose, id, owner, value, isByAccount, only }: Sealed,
  keyId: string | undefined,
  look: (values: readonly SealedValue[]) => Promise<void> | void,
): Promise<void> {
  const isWanted = keyId === undefined ? sql`true` : sql`split_part(${value}, '.', 1) <> ${keyId}`;
  // Along the primary key, whatever the account: thousands of accounts may have a few values each, or none.
  const place = isByAccount ? sql`${owner}, ${id}` : id;
  let last: { id: string; owner: string | null } | undefined;
  do {
    const after = last && (isByAccount ? sql`${last.owner}, ${last.id}` : sql`${last.id}`);
    const { rows } = await sql<{ id: string; owner: string | null; sealed: string | null }>`
      select ${id} as id, ${owner} as owner, case when ${isWanted} then ${value} end as sealed
      from ${sql.table(table)} where ${only} and ${after ? sql`(${place}) > (${after})` : sql`true`}
      order by ${place} limit ${batchSize}
      ${isByAccount ? acrossAccounts('sealed-values') : sql``}`.execute(db);
    const values = rows.flatMap(({ id: of, owner: by, sealed }) =>
      sealed === null ? [] : [{ table, sealed, binding: { purpose, owner: by, id: of } }],
    );
    if (values.length > 0) await look(values);
    last = rows.length < batchSize ? undefined : rows.at(-1);
  } while (last !== undefined);
}

export async function listSealed(
  db: Db,
  columns: readonly Sealed[],
  look: (value: SealedValue) => void,
): Promise<void> {
  for (const column of columns)
    await eachBatch(db, column, undefined, (values) => {
      values.forEach(look);
    });
}

interface ResealProgress {
  /** Before the first change, so that it is noted although the work is interrupted. Not called if there is nothing to change. */
  begins: () => Promise<void>;
  resealed: (values: number) => void;
  /** Waiting for transactions that may still commit values sealed with an older key. */
  waiting: () => void;
  pause: () => Promise<void>;
}

/** Until nothing is sealed with another key, and nothing more can arrive. Returns the number of values. */
export async function resealEverything(
  db: Db,
  columns: readonly Sealed[],
  vault: Vault,
  progress: ResealProgress,
): Promise<number> {
  let done = 0;
  let hasBegun = false;
  /** Returns whether all values had the key before it; rows that were locked are left for the next pass. */
  const pass = async (): Promise<boolean> => {
    let isDone = true;
    for (const column of columns)
      await eachBatch(db, column, vault.keyId, async (values) => {
        isDone = false;
        if (!hasBegun) await progress.begins();
        hasBegun = true;
        const ownerOf = ({ binding }: SealedValue) => column.isByAccount && binding.owner;
        for (const own of groupByAccount(values, ownerOf).values()) {
          done += await resealBatch(db, column, own, vault);
          progress.resealed(done);
        }
      });
    return isDone;
  };
  await pass();
  progress.waiting();
  await waitForOlderTransactions(db, progress.pause);
  while (!(await pass())) await progress.pause();
  return done;
}

function reseal({ table, sealed, binding }: SealedValue, { seal, open }: Vault): string {
  try {
    return seal(open(sealed, binding), binding);
  } catch (error) {
    throw new OperatorFault(`A value of ${table} ${binding.id} does not open. See: ${programName} doctor`, {
      cause: error,
    });
  }
}

/**
 * Of one account, if the table is by account. Does not touch `updated_at`, because nothing visible changes. Returns how many values it
 * changed.
 */
async function resealBatch(
  db: Db,
  { table, id, idType, value, assignment, isByAccount, only }: Sealed,
  values: readonly SealedValue[],
  vault: Vault,
): Promise<number> {
  const given = values.map((one) => ({ id: one.binding.id, old: one.sealed, fresh: reseal(one, vault) }));
  const ids = given.map((one) => one.id);
  const isPart = isByAccount ? sql`merchant_account_id = ${values[0]?.binding.owner}` : only;
  return inTransaction(db, async (tx) => {
    // In the order of their IDs, as elsewhere, so that two transactions cannot deadlock.
    const { rows } = await sql<{ id: string }>`
      select ${id} as id from ${sql.table(table)} where ${isPart} and ${id} = any(${ids}::${sql.raw(idType)}[])
      order by ${id} for no key update skip locked`.execute(tx);
    const locked = new Set(rows.map((row) => row.id));
    const { numAffectedRows = 0n } = await sql`
      update ${sql.table(table)} set ${assignment}
      from json_to_recordset(${JSON.stringify(given.filter((one) => locked.has(one.id)))}::json)
        as given (id ${sql.raw(idType)}, old text, fresh text)
      where ${isPart} and ${id} = given.id and ${value} = given.old`.execute(tx);
    return Number(numAffectedRows);
  });
}

/** The keys of some stored values. Not of all, which takes long; IDs are random, so the first ones are a fair sample. */
export async function findKeyIds(db: Db, columns: readonly Sealed[]): Promise<string[]> {
  const samples = columns.map(
    ({ table, id, value, only }) =>
      sql`(select ${value} as sealed from ${sql.table(table)} where ${only} order by ${id} limit 1000)`,
  );
  const { rows } = await sql<{ key: string }>`
    select distinct split_part(sealed, '.', 1) as key from (${sql.join(samples, sql` union all `)}) as sample
    where sealed is not null ${acrossAccounts('sealed-values')}`.execute(db);
  return rows.map(({ key }) => key);
}

interface MissingKeys {
  missing: string[];
  /** Whether no value of the sample fits a key that is given. */
  isWhollyWrong: boolean;
}

/** By a sample of the stored values. Undefined when none is missing. */
export async function findMissingKeys(
  db: Db,
  columns: readonly Sealed[],
  vault: Vault,
): Promise<MissingKeys | undefined> {
  const used = await findKeyIds(db, columns);
  const missing = used.filter((id) => !vault.canOpen(id));
  return missing.length === 0 ? undefined : { missing, isWhollyWrong: missing.length === used.length };
}

export async function countInstanceConnections(db: Db): Promise<number> {
  const { rows } = await sql<{ total: number }>`
    select count(*) as total from pg_stat_activity
    where datname = current_database() and application_name ~ ${`^${packageName} [0-9.]+$`}`.execute(db);
  return rows[0]?.total ?? 0;
}

/**
 * Waits until all transactions that are running now have ended. Values are sealed inside transactions, so after that no value
 * with an older key can be committed. The transactions of `withLock` store nothing; one of them is ours.
 */
async function waitForOlderTransactions(db: Db, pause: () => Promise<void>): Promise<void> {
  const { rows } = await sql<{ now: string }>`select clock_timestamp()::text as now`.execute(db);
  const since = rows[0]?.now ?? '';
  for (;;) {
    const { rows: left } = await sql`
      select 1 from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and xact_start < ${since}::timestamptz
        and backend_type = 'client backend'
        and application_name is distinct from ${lockHolder} limit 1`.execute(db);
    if (left.length === 0) return;
    await pause();
  }
}
