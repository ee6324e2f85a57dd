// The database of this service: the kit's, with the migrations of the domain.
import { loadMigrations } from './domain.ts';
import type { Db } from './kit/database/database.ts';
import * as migrating from './kit/database/migrate.ts';
import * as kit from './kit/database/open.ts';

export type { OpenedDatabase } from './kit/database/open.ts';

export const openReadyDatabase = async (
  options: Omit<kit.OpenOptions, 'schema'>,
): Promise<kit.OpenedDatabase> => kit.openReadyDatabase({ ...options, schema: await loadMigrations() });

export const migrate = async (db: Db): Promise<string[]> => migrating.migrate(db, await loadMigrations());

export const findUnready = async (
  url: string,
  ...rest: [client?: NonNullable<Parameters<typeof kit.findUnready>[2]>, wasDiskFull?: boolean]
): ReturnType<typeof kit.findUnready> =>
  kit.findUnready(url, Object.keys((await loadMigrations()).migrations), ...rest);
