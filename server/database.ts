// The database of this service: the kit's, with the migrations of payments.
import type { Db } from './kit/database/database.ts';
import * as migrating from './kit/database/migrate.ts';
import * as kit from './kit/database/open.ts';
import * as schema from './migrations/index.ts';

export type { OpenedDatabase } from './kit/database/open.ts';

export const openReadyDatabase = (options: Omit<kit.OpenOptions, 'schema'>): Promise<kit.OpenedDatabase> =>
  kit.openReadyDatabase({ ...options, schema });

export const migrate = (db: Db): Promise<string[]> => migrating.migrate(db, schema);

export const findUnready = (
  url: string,
  ...rest: [client?: NonNullable<Parameters<typeof kit.findUnready>[2]>, wasDiskFull?: boolean]
): ReturnType<typeof kit.findUnready> => kit.findUnready(url, Object.keys(schema.migrations), ...rest);
