// What a start looks for in the data before it serves requests, and the first data of a sandbox.
import { createPrivateKey, type KeyObject } from 'node:crypto';
import type { Logger } from 'pino';
import type { Config } from './config.ts';
import { algorithmOf, generateKeyPair, thumbprint } from './kit/access/token.ts';
import type { Db } from './kit/database/database.ts';
import { readPrivate, writePrivate } from './kit/database/embedded/data-dir.ts';
import { claimDatabase } from './kit/database/environment.ts';
import { inWork, silently, lockUntilCommit } from './kit/database/unit-of-work.ts';
import { ConfigurationFault } from './kit/faults.ts';
import { guide } from './kit/guides.ts';
import { earlier } from './kit/rules/database-time.ts';
import { findMissingKeys } from './kit/secrets/reseal.ts';
import { sandboxKeyFile } from './kit/secrets/secrets-file.ts';
import { isCardKeyInDataDir, type Secrets } from './open-secrets.ts';
import { createKeyPair } from './resources/api-key-pairs/changes.ts';
import { findActivePairNamed, findSigningPair } from './resources/api-key-pairs/queries.ts';
import { sealedColumns } from './resources/facts.ts';
import { createAccount } from './resources/merchant-accounts/changes.ts';
import { findFirstAccount } from './resources/merchant-accounts/queries.ts';
import type { CardSecrets } from './resources/payment-methods/changes.ts';
import { importTransactions } from './resources/transactions/changes.ts';
import { createSampleRecords } from './sandbox/sample-records.ts';
import { createSamples } from './sandbox/sample-transactions.ts';

interface Prepared {
  config: Config;
  log: Logger;
  secrets: Secrets;
}

/** A sandbox without data gets its sample data. */
export async function prepareData(db: Db, { config, log, secrets }: Prepared): Promise<void> {
  const isSandbox = config.environment === 'sandbox';
  // First, because sample data would be sealed with the wrong key.
  await refuseWrongKeys(db, { config, secrets, log });
  if (isSandbox && (await fillSandbox(db, config.dataDir, secrets)))
    log.info('sample data was added to the sandbox');
  if (!isSandbox) await warnOfData(db, log);
}

/** With a wrong CARD_KEY requests fail. One that opens some of the values is probably the right one, and another is missing. */
async function refuseWrongKeys(db: Db, { config, secrets, log }: Prepared): Promise<void> {
  const found = await findMissingKeys(db, sealedColumns, secrets.vault);
  if (!found) return;
  const ids = found.missing.join(', ');
  if (found.isWhollyWrong) throw new ConfigurationFault(whollyWrong(config, ids));
  log.error(`stored values need a key that is missing: ${ids}. Add it to CARD_KEY (or CARD_KEY_FILE).`);
}

const whollyWrong = (config: Config, ids: string): string => {
  const lost = `payments secrets replace-lost-keys, and see "A lost key" in ${guide('guides/keys.md')}`;
  if (!isCardKeyInDataDir(config))
    return `No key in CARD_KEY (or CARD_KEY_FILE) opens the stored values. Add key ${ids} there. If it is lost: ${lost}.`;
  const empty = config.databaseUrl === undefined ? 'delete DATA_DIR' : 'use an empty database';
  return `The card key in ${config.dataDir}/secrets.json opens none of the stored values. Restore that file with key ${ids}. If it is lost: ${lost}. If nothing that is stored matters, ${empty}.`;
};

/** What makes requests fail although the service runs. */
async function warnOfData(db: Db, log: Logger): Promise<void> {
  if (!(await findFirstAccount(db)))
    log.warn(
      'there is no merchant account yet, so most operations answer 404: run payments accounts create default --name Default',
    );
  const left = await findActivePairNamed(db, 'Sandbox');
  if (left)
    log.warn(
      `the key pair ${left.id}, named Sandbox, is still active: if nobody needs it, run payments keys deactivate ${left.id}`,
    );
}

/**
 * Fills a new sandbox: two merchant accounts, buyers, cards, gift cards, 360 transactions, and a key pair whose private key is
 * saved in DATA_DIR. Idempotent, and safe to run in several processes at once. Returns whether it created something.
 */
export const fillSandbox = (db: Db, dataDir: string, secrets: CardSecrets): Promise<boolean> =>
  inWork(db, async (work) => {
    const unit = silently(work, 'sample data');
    await lockUntilCommit(unit.db, 'fill sandbox');
    await claimDatabase(unit.db, 'sandbox');
    // `default` is the older one, because requests without the account header use the oldest account.
    const { now } = unit;
    const older = earlier(now, 60_000);
    const isNew = async (account: Parameters<typeof createAccount>[1]) =>
      (await createAccount(unit, account)).kind === 'made';
    const hasMade = {
      default: await isNew({ id: 'default', display_name: 'Default', created_at: older }),
      marketplace: await isNew({ id: 'marketplace', display_name: 'Marketplace', created_at: now }),
    };
    const hasMadeSome = hasMade.default || hasMade.marketplace;
    const sample = async (account: string, length: number) => {
      const keys = await secrets.keysOf(unit.db, account);
      const sampleAt = createSamples(account, { seed: 1, until: now, keys });
      return Array.from({ length }, (_, index) => sampleAt(index));
    };
    if (hasMade.default) await createSampleRecords(unit, 'default', secrets);
    if (hasMadeSome)
      await importTransactions(unit, [
        { rows: hasMade.default ? await sample('default', 300) : [] },
        { rows: hasMade.marketplace ? await sample('marketplace', 60) : [] },
      ]);
    const file = sandboxKeyFile(dataDir);
    const privateKey = readKey(file) ?? generateKeyPair('ECDSA').privateKey;
    if (await findSigningPair(unit.db, thumbprint(privateKey))) return hasMadeSome;
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
