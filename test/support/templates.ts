/** The databases that tests copy: one migrated and empty, one after the first start of a sandbox. */
import { mkdir } from 'node:fs/promises';
import type { Config } from '../../server/config.ts';
import { migrate } from '../../server/database.ts';
import { openDatabase, type Database } from '../../server/kit/database/database.ts';
import { openSecrets } from '../../server/open-secrets.ts';
import { fillSandbox } from '../../server/prepare-data.ts';
import {
  closeTemplate,
  createDatabase,
  distributeTables,
  joinNodes,
  urlOf,
  type Cluster,
} from './cluster.ts';

export interface Templates {
  template: string;
  furnished: string;
}

export async function makeTemplates(
  cluster: Cluster,
  { template, furnished }: Templates,
  dataDir: string,
): Promise<void> {
  const serverUrl = cluster.nodes[0]?.url ?? '';
  await createDatabase(cluster, template, 'template1');
  await joinNodes(cluster, template);
  await withDatabase(serverUrl, template, async ({ db }) => {
    await migrate(db);
  });
  await distributeTables(cluster, template);
  await closeTemplate(cluster, template);
  await createDatabase(cluster, furnished, template);
  await mkdir(dataDir);
  await withDatabase(serverUrl, furnished, async ({ db }) => {
    const config = { environment: 'sandbox', dataDir, secrets: {} } as Config;
    await fillSandbox(db, dataDir, openSecrets(config));
  });
  await closeTemplate(cluster, furnished);
}

async function withDatabase(
  serverUrl: string,
  name: string,
  work: (database: Database) => Promise<void>,
): Promise<void> {
  // A connection that is about to close may be ended by `closeTemplate`. What fails otherwise rejects.
  const database = openDatabase(urlOf(serverUrl, name), () => undefined);
  try {
    await work(database);
  } finally {
    await database.close();
  }
}
