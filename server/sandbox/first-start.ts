// Fills a new sandbox: two merchant accounts, buyers, cards, gift cards, 360 transactions, and a key pair whose private key
// is saved in DATA_DIR.
import { createPrivateKey, type KeyObject } from 'node:crypto';
import type { Db } from '../database/database.ts';
import { readPrivate, writePrivate } from '../database/embedded/data-dir.ts';
import { claimDatabase } from '../database/environment.ts';
import { inWork, silently, lockUntilCommit } from '../database/unit-of-work.ts';
import { createKeyPair } from '../resources/api-key-pairs/changes.ts';
import { findSigningPair } from '../resources/api-key-pairs/queries.ts';
import { algorithmOf, generateKeyPair, thumbprint } from '../resources/api-key-pairs/rules.ts';
import { createAccount } from '../resources/merchant-accounts/changes.ts';
import type { CardSecrets } from '../resources/payment-methods/changes.ts';
import { importTransactions } from '../resources/transactions/changes.ts';
import { createSampleRecords } from './sample-records.ts';
import { createSamples } from './sample-transactions.ts';
import { sandboxKeyFile } from './secrets-file.ts';

/** Idempotent, and safe to run in several processes at once. Returns whether it created something. */
export const fillSandbox = (db: Db, dataDir: string, now: Date, secrets: CardSecrets): Promise<boolean> =>
  inWork(db, async (work) => {
    const unit = silently(work, 'sample data');
    await lockUntilCommit(unit.db, 'fill sandbox');
    await claimDatabase(unit.db, 'sandbox');
    // `default` is the older one, because requests without the account header use the oldest account.
    const older = new Date(now.getTime() - 60_000);
    const made = [
      await createAccount(unit, { id: 'default', display_name: 'Default', created_at: older }),
      await createAccount(unit, { id: 'marketplace', display_name: 'Marketplace', created_at: now }),
    ];
    const sample = async (account: string, length: number) => {
      const keys = await secrets.keysOf(unit.db, account);
      const sampleAt = createSamples(account, { seed: 1, until: now, keys });
      return Array.from({ length }, (_, index) => sampleAt(index));
    };
    if (made[0]) await createSampleRecords(unit, 'default', secrets);
    if (made.some(Boolean))
      await importTransactions(unit, [
        { rows: made[0] ? await sample('default', 300) : [] },
        { rows: made[1] ? await sample('marketplace', 60) : [] },
      ]);
    const file = sandboxKeyFile(dataDir);
    const privateKey = readKey(file) ?? generateKeyPair('ECDSA').privateKey;
    if (await findSigningPair(unit.db, thumbprint(privateKey))) return made.some(Boolean);
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
