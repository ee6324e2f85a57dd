// What a new sandbox has to begin with: two merchant accounts, buyers, cards, gift cards, some hundreds of transactions, and
// a key pair whose private key lies in DATA_DIR.
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { chmodSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { sql, type Kysely } from 'kysely';
import { algorithmOf, generateKeyPair, thumbprint } from '../domain/key-pair.ts';
import { createApiKeyPair, findSigningPair } from '../store/api-key-pairs.ts';
import { createAccount } from '../store/merchant-accounts.ts';
import { findRoles } from '../store/roles.ts';
import type { Tables } from '../store/schema.ts';
import { createTransactions } from '../store/transaction-moves.ts';
import { sandboxKeyFile } from './secrets-file.ts';
import { createPeople, type Means } from './sample-records.ts';
import { seedTransaction } from './sample-transactions.ts';

/** Safe to run at every start, and by several processes at once. True when it made something. */
export function furnishSandbox(
  db: Kysely<Tables>,
  dataDir: string,
  now: Date,
  means: Means,
): Promise<boolean> {
  return db.transaction().execute(async (transaction) => {
    await sql`select pg_advisory_xact_lock(hashtext('furnish-sandbox'))`.execute(transaction);
    // `default` is the older of the two: it is what a request without the header means.
    const older = new Date(now.getTime() - 60_000);
    const made = [
      await createAccount(transaction, { id: 'default', display_name: 'Default', created_at: older }),
      await createAccount(transaction, { id: 'marketplace', display_name: 'Marketplace', created_at: now }),
    ];
    if (made[0]) await createPeople(transaction, 'default', means);
    if (made[0]) await createTransactions(transaction, firstTransactions('default', 300, now, means));
    if (made[1]) await createTransactions(transaction, firstTransactions('marketplace', 60, now, means));
    const file = sandboxKeyFile(dataDir);
    const privateKey = readKey(file) ?? generateKeyPair('ECDSA').privateKey;
    const kid = thumbprint(privateKey);
    if (await findSigningPair(transaction, kid)) return made.some(Boolean);
    const [administrator] = await findRoles(transaction, ['administrator']);
    await createApiKeyPair(
      transaction,
      {
        thumbprint: kid,
        display_name: 'Sandbox',
        algorithm: algorithmOf(privateKey) ?? 'ECDSA',
        public_key: createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }) as string,
      },
      administrator ? [administrator.id] : [],
      [],
    );
    // Before the commit: a pair without its key would be of no use, a key without its pair is registered at the next start.
    writeKey(file, privateKey);
    return true;
  });
}

const firstTransactions = (account: string, number: number, until: Date, means: Means) =>
  Array.from({ length: number }, (_, index) => seedTransaction(index, account, { seed: 1, until, means }));

function readKey(file: string): KeyObject | undefined {
  try {
    const key = createPrivateKey(readFileSync(file));
    return algorithmOf(key) ? key : undefined;
  } catch {
    return undefined;
  }
}

function writeKey(file: string, key: KeyObject): void {
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, key.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
  chmodSync(draft, 0o600);
  renameSync(draft, file);
}
