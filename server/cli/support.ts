// The database for the time of a command, and what the service itself uses.
import { readConfig, type Config } from '../config.ts';
import type { Services } from '../handlers/deps.ts';
import { secretsOf } from '../secrets.ts';
import { createServices } from '../services.ts';
import type { Db } from '../store/database.ts';
import { listAccounts } from '../store/merchant-accounts.ts';
import { openStore, type OpenedDatabase } from '../store/open.ts';
import { findPublicUrl } from '../store/settings.ts';
import { Refused } from './output.ts';

/** Uses the database that the server runs, or starts it for the time of the command. */
export async function withDatabase<T>(
  work: (database: OpenedDatabase, config: Config) => Promise<T>,
  { size = 2 } = {},
): Promise<T> {
  const config = readConfig();
  const database = await openStore({
    databaseUrl: config.databaseUrl,
    dataDir: config.dataDir,
    log: () => undefined,
    size,
  });
  try {
    return await work(database, config);
  } finally {
    await database.close();
  }
}

/** The same with what the service itself uses: vault, fingerprints, outcomes. */
export const withServices = <T>(
  work: (database: OpenedDatabase, services: Services, config: Config) => Promise<T>,
  options?: { size?: number },
): Promise<T> =>
  withDatabase(
    async (database, config) => work(database, createServices(config, await secretsOf(config)), config),
    options,
  );

/** Where the service is, which may have been started with another port than this command. */
export const publicUrlOf = async (db: Db, { publicUrl }: Config): Promise<string> =>
  (await findPublicUrl(db)) ?? publicUrl;

/** Refuses an account that does not exist. */
export async function knownAccount(db: Db, id: string): Promise<string> {
  if ((await listAccounts(db)).some((account) => account.id === id)) return id;
  throw new Refused(`There is no merchant account ${id}. See: payments accounts list`);
}
