// What a start looks for in the data before it serves requests, and the first data of a sandbox.
import { createPrivateKey, type KeyObject } from 'node:crypto';
import type { Logger } from 'pino';
import { programName } from '../generated/operations.ts';
import type { Config } from './config.ts';
import * as domain from './domain.ts';
import { createAccount } from './kit/access/accounts/changes.ts';
import { findFirstAccount } from './kit/access/accounts/queries.ts';
import { createKeyPair } from './kit/access/key-pairs/changes.ts';
import { findActivePairNamed, findSigningPair } from './kit/access/key-pairs/queries.ts';
import { algorithmOf, generateKeyPair, thumbprint } from './kit/access/token.ts';
import type { Db } from './kit/database/database.ts';
import { readPrivate, writePrivate } from './kit/database/embedded/data-dir.ts';
import { claimDatabase } from './kit/database/environment.ts';
import { inWork, silently, lockUntilCommit } from './kit/database/unit-of-work.ts';
import { ConfigurationFault } from './kit/faults.ts';
import { guide } from './kit/guides.ts';
import { earlier } from './kit/rules/database-time.ts';
import { findMissingKeys, type Sealed } from './kit/secrets/reseal.ts';
import { sandboxKeyFile } from './kit/secrets/secrets-file.ts';
import { isCardKeyInDataDir, type Secrets } from './open-secrets.ts';

interface Prepared {
  config: Config;
  log: Logger;
  secrets: Secrets;
  sealedColumns: readonly Sealed[];
}

export async function prepareData(db: Db, { config, log, secrets, sealedColumns }: Prepared): Promise<void> {
  const isSandbox = config.environment === 'sandbox';
  // First, because sample data would be sealed with the wrong key.
  await refuseWrongKeys(db, { config, log, secrets, sealedColumns });
  if (isSandbox && (await fillSandbox(db, config.dataDir, secrets)))
    log.info('sample data was added to the sandbox');
  if (!isSandbox) await warnOfData(db, log);
}

/** With a wrong CARD_KEY requests fail. One that opens some of the values is probably the right one, and another is missing. */
async function refuseWrongKeys(db: Db, { config, log, secrets, sealedColumns }: Prepared): Promise<void> {
  const found = await findMissingKeys(db, sealedColumns, secrets.vault);
  if (!found) return;
  const ids = found.missing.join(', ');
  if (found.isWhollyWrong) throw new ConfigurationFault(whollyWrong(config, ids));
  log.error(`stored values need a key that is missing: ${ids}. Add it to CARD_KEY (or CARD_KEY_FILE).`);
}

const whollyWrong = (config: Config, ids: string): string => {
  const lost = `${programName} secrets replace-lost-keys, and see "A lost key" in ${guide('guides/keys.md')}`;
  if (!isCardKeyInDataDir(config))
    return `No key in CARD_KEY (or CARD_KEY_FILE) opens the stored values. Add key ${ids} there. If it is lost: ${lost}.`;
  const empty = config.databaseUrl === undefined ? 'delete DATA_DIR' : 'use an empty database';
  return `The card key in ${config.dataDir}/secrets.json opens none of the stored values. Restore that file with key ${ids}. If it is lost: ${lost}. If nothing that is stored matters, ${empty}.`;
};

async function warnOfData(db: Db, log: Logger): Promise<void> {
  if (!(await findFirstAccount(db)))
    log.warn(
      `there is no merchant account yet, so most operations answer 404: run ${programName} accounts create default --name Default`,
    );
  const left = await findActivePairNamed(db, 'Sandbox');
  if (left)
    log.warn(
      `the key pair ${left.id}, named Sandbox, is still active: if nobody needs it, run ${programName} keys deactivate ${left.id}`,
    );
}

/**
 * Fills a new sandbox: two merchant accounts, their samples, and a key pair whose private key is saved in DATA_DIR. Idempotent, and safe
 * to run in several processes at once. Returns whether it created something.
 */
export const fillSandbox = (
  db: Db,
  dataDir: string,
  secrets: Pick<Secrets, 'vault' | 'keysOf'>,
): Promise<boolean> =>
  inWork(db, async (work) => {
    const unit = silently(work, 'sample data');
    await lockUntilCommit(unit.db, 'fill sandbox');
    await claimDatabase(unit.db, 'sandbox');
    // `default` is the older one, because requests without the account header use the oldest account.
    const { now } = unit;
    const older = earlier(now, 60_000);
    const made: string[] = [];
    for (const account of [
      { id: 'default', display_name: 'Default', created_at: older },
      { id: 'marketplace', display_name: 'Marketplace', created_at: now },
    ])
      if ((await createAccount(unit, account)).kind === 'made') made.push(account.id);
    if (made.length > 0) await domain.addSamples(unit, made, secrets);
    const file = sandboxKeyFile(dataDir);
    const privateKey = readKey(file) ?? generateKeyPair('ECDSA').privateKey;
    if (await findSigningPair(unit.db, thumbprint(privateKey))) return made.length > 0;
    await createKeyPair(unit, { privateKey, name: 'Sandbox', roles: ['administrator'], accounts: 'all' });
    // Before the commit: a pair without its private key is useless, but a key without a pair is registered at the next start.
    writePrivate(file, privateKey.export({ type: 'pkcs8', format: 'pem' }) as string);
    return true;
  });

function readKey(file: string): KeyObject | undefined {
  const pem = readPrivate(file);
  if (pem === undefined) return undefined;
  try {
    const key = createPrivateKey(pem);
    return algorithmOf(key) ? key : undefined;
  } catch {
    return undefined;
  }
}
