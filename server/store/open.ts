// From configuration to a database that is there and migrated. Without DATABASE_URL that is an embedded PostgreSQL, which
// everything above sees only as a URL.
import { migrate, openDatabase, type Database } from './database.ts';
import { startEmbedded } from './embedded/index.ts';

export interface OpenedDatabase extends Database {
  url: string;
  /** Migrations that were applied now. */
  migrated: string[];
}

export interface OpenOptions {
  databaseUrl: string | undefined;
  dataDir: string;
  log: (message: string) => void;
  size?: number;
}

export async function openStore({ databaseUrl, dataDir, log, size }: OpenOptions): Promise<OpenedDatabase> {
  const embedded = databaseUrl === undefined ? await startEmbedded({ dataDir, log }) : undefined;
  const url = databaseUrl ?? embedded?.url ?? '';
  const database = openDatabase(
    url,
    (error) => {
      log(`the database connection failed: ${error.message}`);
    },
    size,
  );
  try {
    return {
      ...database,
      url,
      migrated: await migrate(database.db),
      close: async () => {
        await database.close();
        await embedded?.stop();
      },
    };
  } catch (error) {
    await database.close();
    await embedded?.stop();
    throw error;
  }
}
