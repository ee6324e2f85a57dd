// The database of this service: the kit's, with the migrations of the kit and of the domain.
import { loadMigrations } from './domain.ts';
import type { Db } from './kit/database/database.ts';
import * as migrating from './kit/database/migrate.ts';
import * as kit from './kit/database/open.ts';

export type { OpenedDatabase } from './kit/database/open.ts';

export async function loadSchema(): Promise<migrating.Migrations> {
  const own: migrating.Migrations = await loadMigrations();
  const { kitMigrations } = await import('./kit/migrations/index.ts');
  const others = Object.entries(kitMigrations).filter(([name]) => !(own.contained && name in own.contained));
  return { ...own, migrations: { ...Object.fromEntries(others), ...own.migrations } };
}

export const openReadyDatabase = async (
  options: Omit<kit.OpenOptions, 'schema'>,
): Promise<kit.OpenedDatabase> => kit.openReadyDatabase({ ...options, schema: await loadSchema() });

export const migrate = async (db: Db): Promise<string[]> => migrating.migrate(db, await loadSchema());

export const findUnready = async (
  url: string,
  ...rest: [client?: NonNullable<Parameters<typeof kit.findUnready>[2]>, wasDiskFull?: boolean]
): ReturnType<typeof kit.findUnready> =>
  kit.findUnready(url, Object.keys((await loadSchema()).migrations), ...rest);
