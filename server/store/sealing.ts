// Which form sealed values have. It is in the database, so that all instances agree.
import { sql } from 'kysely';
import { acrossAccounts } from './across-accounts.ts';
import type { Sealer, Sealing, Vault } from '../domain/vault.ts';
import type { Db } from './database.ts';

const name = 'sealing';

export async function findSealing(db: Db): Promise<Sealing> {
  const found = await db.selectFrom('settings').select('value').where('name', '=', name).executeTakeFirst();
  // Anything else is treated as the strictest: a setting that was deleted must not make the service accept more.
  return found?.value === 'unbound' || found?.value === 'binding' ? found.value : 'bound';
}

/**
 * Call it before the values are read: a rotation may bind all of them in between, and then refuses the old form. To seal, call
 * it in the transaction that stores the value, because a rotation waits for the transactions that may write the old form.
 */
export const findSealer = (db: Db, vault: Vault): Promise<Sealer> => vault.sealer(() => findSealing(db));

/** From its commit on, new transactions write bound values. */
export const beginBinding = (db: Db) =>
  db
    .updateTable('settings')
    .set({ value: 'binding' satisfies Sealing })
    .where('name', '=', name)
    .where('value', '=', 'unbound' satisfies Sealing)
    .execute();

/** From its commit on, unbound values are refused. */
export const finishBinding = (db: Db) =>
  db
    .updateTable('settings')
    .set({ value: 'bound' satisfies Sealing })
    .where('name', '=', name)
    .execute();

/** The keys of some stored values. Not of all, which takes long; IDs are random, so the first ones are a fair sample. */
export async function sampleKeyIds(db: Db): Promise<string[]> {
  const { rows } = await sql<{ key: string }>`
    (select split_part(number_sealed, '.', 1) as key
      from (select number_sealed from payment_methods order by id limit 1000) as sample
      where number_sealed is not null)
    union
    (select split_part(number_sealed, '.', 1) from gift_cards order by id limit 100)
    union
    (select split_part(secret_sealed, '.', 1) from webhook_subscriptions order by id limit 100)
    ${acrossAccounts('sealed-values')}`.execute(db);
  return rows.map(({ key }) => key);
}

/** Connections of versions before 1.2, which cannot read bound values. Their name has no version. */
export const countOlderConnections = (db: Db): Promise<number> => countConnections(db, '^payments-service$');

/** Connections of instances since 1.2, without those of commands. Version 1.2.0 did not tell them apart. */
export const countInstanceConnections = (db: Db): Promise<number> =>
  countConnections(db, '^payments-service [0-9.]+$');

async function countConnections(db: Db, names: string): Promise<number> {
  const { rows } = await sql<{ total: number }>`
    select count(*) as total from pg_stat_activity
    where datname = current_database() and application_name ~ ${names}`.execute(db);
  return rows[0]?.total ?? 0;
}
