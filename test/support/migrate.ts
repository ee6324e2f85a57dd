import { openStore } from '../../server/store/open.ts';

/** Migrates a database as a start does. */
export async function migrateStore(databaseUrl: string) {
  const messages: string[] = [];
  const store = await openStore({
    databaseUrl,
    environment: 'sandbox',
    dataDir: '/nowhere',
    log: () => undefined,
    progress: (message: string) => messages.push(message),
  });
  await store.close();
  return { migrated: store.migrated, messages };
}
