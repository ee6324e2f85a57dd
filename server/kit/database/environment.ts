// Whether a database belongs to production or to a sandbox. It is noted in the database, because a start with the production
// DATABASE_URL but without ENVIRONMENT=production would otherwise add sample data and an administrator key to it.
import { sql } from 'kysely';
import { ConfigurationFault } from '../faults.ts';
import type { Db, Tx } from './database.ts';

export type Environment = 'sandbox' | 'production';

/** Call it before migrations: a database of the other environment must not be migrated by mistake. */
export async function refuseOtherEnvironment(
  db: Db,
  environment: Environment,
  /** Whether sample data and a key pair are added to a database that is not known yet. */
  fills: boolean,
): Promise<void> {
  // First the records, then the note: another instance may fill the database meanwhile, and commits both at once.
  const isUsed = fills && (await hasRecords(db));
  const noted = await findEnvironment(db);
  if (noted === 'production' && environment === 'sandbox') throw ofProduction();
  if (noted === undefined && isUsed)
    throw new ConfigurationFault(
      `The database of DATABASE_URL (or DATABASE_URL_FILE) has merchant accounts or key pairs that no sandbox created, so the sandbox does not start with it. ${way}`,
    );
}

const way =
  'If it is the production database, set ENVIRONMENT=production. For a sandbox, use an empty database.';

const ofProduction = (): ConfigurationFault =>
  new ConfigurationFault(
    `The database of DATABASE_URL (or DATABASE_URL_FILE) belongs to production, but ENVIRONMENT is not production. ${way}`,
  );

/** The environment that comes first is noted. Production may use what a sandbox filled, but not the other way round. */
export async function claimDatabase(db: Db | Tx, environment: Environment): Promise<void> {
  // Commands that only read work on a standby, where it is noted already.
  if ((await findEnvironment(db)) === undefined)
    await db
      .insertInto('settings')
      .values({ name: 'environment', value: environment })
      .onConflict((conflict) => conflict.column('name').doNothing())
      .execute();
  if (environment === 'sandbox' && (await findEnvironment(db)) === 'production') throw ofProduction();
}

/** Undefined in a database that only commands of a sandbox have used. */
const findEnvironment = async (db: Db): Promise<string | undefined> =>
  (await hasTable(db, 'settings')) ? findSetting(db, 'environment') : undefined;

async function findSetting(db: Db, name: string): Promise<string | undefined> {
  const found = await db.selectFrom('settings').select('value').where('name', '=', name).executeTakeFirst();
  return found?.value;
}

async function hasRecords(db: Db): Promise<boolean> {
  if (!(await hasTable(db, 'api_key_pairs'))) return false;
  const { rows } = await sql<{ found: boolean }>`
    select exists (select from merchant_accounts) or exists (select from api_key_pairs) as found`.execute(db);
  return rows[0]?.found === true;
}

async function hasTable(db: Db, table: string): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    select to_regclass(${table}) is not null as found`.execute(db);
  return rows[0]?.found === true;
}

// Facts about the running service that a command cannot read from its own environment.

export const savePublicUrl = (db: Db, value: string) =>
  db
    .insertInto('settings')
    .values({ name: 'public_url', value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
    .execute();

/** The public URL of the service that started last. */
export const findPublicUrl = (db: Db): Promise<string | undefined> => findSetting(db, 'public_url');
