// A sandbox whose data ends with it (`start --data temporary`), so it can be reset: the app of before ends with all that it has
// in memory, and a new one starts on a new copy of the database, behind the same listener.
import { chmodSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Config } from '../../server/config.ts';
import { openReadyDatabase } from '../../server/database.ts';
import { compileContract } from '../../server/kit/contract/compile.ts';
import { loadContract } from '../../server/kit/contract/load.ts';
import { NoBinaries } from '../../server/kit/database/embedded/binaries.ts';
import { isRoot } from '../../server/kit/database/embedded/data-dir.ts';
import { startEmbedded, type EmbeddedDatabase } from '../../server/kit/database/embedded/index.ts';
import { codeOf, OperatorFault } from '../../server/kit/faults.ts';
import { listen, requireFreePort } from '../../server/kit/http/listen.ts';
import { openSecrets } from '../../server/open-secrets.ts';
import { fillSandbox } from '../../server/prepare-data.ts';
import { startService, type Service } from '../../server/start.ts';
import { removeData } from '../remove-data.ts';
import { createEntrance } from './entrance.ts';

export interface Temporary extends Pick<Service, 'url' | 'port' | 'firstCall' | 'metricsPort' | 'close'> {
  dataDir: string;
  /** As just started, at the same URL and with the same keys. Requests that arrive meanwhile wait. */
  reset: () => Promise<void>;
}

/** Nothing in it is needed after its end, so nothing waits for the disk. */
const settings = [
  ...['fsync', 'synchronous_commit', 'full_page_writes', 'autovacuum', 'wal_init_zero', 'wal_recycle'],
].map((name) => `${name}=off`);

export async function startTemporary(given: Config, log: Logger): Promise<Temporary> {
  await requireFreePort(given);
  const dataDir = makeFolder();
  const warn = (message: string) => {
    log.warn(message);
  };
  let embedded: EmbeddedDatabase | undefined;
  const end = async () => {
    try {
      await embedded?.stop();
    } finally {
      removeData(dataDir);
    }
  };
  try {
    embedded = await startEmbedded({ dataDir, settings, log: warn });
    const { url: databaseUrl, keep, restore } = embedded;
    const config = { ...given, dataDir, databaseUrl, warnings: [] };
    await fill(config, warn);
    await keep();
    const entrance = createEntrance(listen);
    const contract = await compileContract(loadContract());
    const parts = { contract, listen: entrance.listen, ownsDatabase: true };
    await restore();
    let service = await startService(config, log, parts);
    let resetting = Promise.resolve();
    const { url, port } = service;
    // The port is taken, by us.
    const again = { ...config, port: 0, publicUrl: url };
    return {
      ...service,
      url,
      port,
      dataDir,
      reset: () => {
        resetting = (async () => {
          entrance.hold();
          await service.close();
          await restore();
          service = await startService(again, log, parts);
        })();
        return resetting;
      },
      close: async () => {
        // The service that it starts would make the folder again.
        await resetting.catch(() => undefined);
        try {
          await Promise.all([entrance.close(), service.close()]);
        } finally {
          await end();
        }
      },
    };
  } catch (error) {
    await end();
    throw error instanceof NoBinaries ? new NoBinaries(error.reason, needsBinaries) : error;
  }
}

const needsBinaries =
  'a temporary sandbox needs it. On Linux with glibc and on macOS, `npm install` adds it where it can reach the registry and does not omit optional packages';

/** The database as the first start of a sandbox leaves it. */
async function fill(config: Config, log: (message: string) => void): Promise<void> {
  const { environment, databaseUrl, dataDir } = config;
  const database = await openReadyDatabase({
    ...{ environment, databaseUrl, dataDir, log },
    servesRequests: true,
  });
  try {
    await fillSandbox(database.db, dataDir, openSecrets(config));
  } finally {
    await database.close();
  }
}

function makeFolder(): string {
  try {
    const folder = mkdtempSync(join(tmpdir(), 'payments-'));
    // As root, PostgreSQL runs as another user, who must pass through.
    if (isRoot()) chmodSync(folder, 0o711);
    return folder;
  } catch (error) {
    throw new OperatorFault(
      `No folder can be made in ${tmpdir()} (${codeOf(error)}): set TMPDIR to a folder that this user can write.`,
    );
  }
}
