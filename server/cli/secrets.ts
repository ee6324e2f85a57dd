// `payments secrets rotate`: makes a new card key and re-encrypts everything with it, bound to its row, while the service runs.
import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { Command } from 'commander';
import { resealEverything, UnopenableValue } from '../actions/card-key.ts';
import { keyIdOf, type Keys, type Vault } from '../domain/vault.ts';
import { forOperator } from '../hints.ts';
import { saveCardKeys, watchCardKeys } from '../sandbox/secrets-file.ts';
import { isCardKeyInDataDir } from '../secrets.ts';
import type { Db } from '../store/database.ts';
import { withLock } from '../store/locks.ts';
import { countSealed } from '../store/reseal.ts';
import { countInstanceConnections, countOlderConnections, findSealing } from '../store/sealing.ts';
import { fingerprintCommands } from './fingerprints.ts';
import { count, startProgress, type Progress } from './progress.ts';
import { asResult, call, Refused, resultText } from './output.ts';
import { inAuditedWork, withSecrets, type ServiceParts } from './support.ts';

const pause = () => wait(200);

export function secrets(): Command {
  const command = new Command('secrets');
  asResult(command.command('rotate'))
    .description(
      'encrypt card numbers, gift cards, webhook secrets and kept answers with a new card key, bound to their rows, while the service runs',
    )
    .option('--keep-old', 'keep the old key in DATA_DIR, for example because backups need it')
    .option(
      '--yes',
      'every instance has the new key first in CARD_KEY; needed in production while any is connected',
    )
    .addHelpText(
      'after',
      `
In the sandbox the key is in DATA_DIR: the command creates a new one, encrypts everything with it and removes the old one.
If you set CARD_KEY yourself, create a new key (openssl rand -base64 32), and then
  1. restart every instance with CARD_KEY=<old>,<new>
     now every instance can decrypt values of the new key
  2. restart every instance with CARD_KEY=<new>,<old>
     the first key encrypts
  3. run, with the same CARD_KEY: payments secrets rotate --yes
     --yes says that step 2 is done on every instance
  4. restart every instance with CARD_KEY=<new>
With an unchanged CARD_KEY it binds what versions before 1.2 stored: first replace all of their instances.
If the command is interrupted, run it again: it continues where it stopped. All keys: docs/guides/keys.md.`,
    )
    .action((options: Options) => withSecrets((parts) => rotate(parts, options)));
  for (const one of fingerprintCommands()) command.addCommand(one);
  return command;
}

interface Options {
  keepOld?: boolean;
  yes?: boolean;
  json?: boolean;
}

async function rotate(
  { database: { db }, secrets: { vault }, config }: ServiceParts,
  { keepOld = false, yes = false, json }: Options,
): Promise<void> {
  const progress = startProgress('Rotating the card key');
  try {
    // Two rotations at the same time would each create a key.
    const rotated = await withLock(db, 'rotate secrets', async () => {
      await refuseOlderInstances(db);
      const kept = isCardKeyInDataDir(config);
      if (kept) await createKey(db, vault, config.dataDir);
      const used = await countSealed(db);
      refuseMissingKeys(used, vault);
      if (config.environment === 'production' && !yes) await refuseUnconfirmed(db, used, vault.keyId);
      // Noted first: a rotation that is interrupted has changed something, too.
      await inAuditedWork(db, () => Promise.resolve(true));
      const total = await sealEverything(db, vault, progress);
      const dropped = kept && !keepOld ? dropOld(config.dataDir) : 0;
      const sentence = forOperator(conclusion(vault.keyId, total, { kept, dropped }));
      return resultText(json, { key: vault.keyId, encrypted: total, old_keys_removed: dropped }, sentence);
    });
    if (!rotated) throw new Refused('Another rotation is running.');
    progress.done(rotated.done);
  } catch (error) {
    progress.failed();
    throw error;
  }
}

/** They could not open what is bound, and their values would be refused. */
async function refuseOlderInstances(db: Db): Promise<void> {
  if ((await findSealing(db)) === 'bound' || (await countOlderConnections(db)) === 0) return;
  throw new Refused(
    'An instance of a version before 1.2 uses the database, and it could not read the result. Stop it first; nothing was changed.',
  );
}

/** An instance without the new key could not read the result, and nothing in the database tells which keys it has. */
async function refuseUnconfirmed(db: Db, used: ReadonlyMap<string, number>, keyId: string): Promise<void> {
  if ([...used.keys()].every((key) => key === keyId)) return;
  const connections = await countInstanceConnections(db);
  if (connections === 0) return;
  throw new Refused(
    `The service is connected to the database (${count(connections, 'connection')}). Every instance must already have the new key ${keyId} first in CARD_KEY (step 2 in ${call('secrets rotate --help')}), or it cannot read the result. If all have it: ${call('secrets rotate --yes')}. Nothing was changed.`,
  );
}

/** Adds a new first key, unless an interrupted rotation created one and is not finished. */
async function createKey(db: Db, vault: Vault, dataDir: string): Promise<void> {
  const keys = watchCardKeys(dataDir)();
  const used = await countSealed(db);
  if (keys.slice(1).some((key) => used.has(keyIdOf(key)))) return;
  saveCardKeys(dataDir, [randomBytes(32), ...keys]);
  if (vault.keyId === keyIdOf(keys[0])) throw new Error('The new key did not reach the vault.');
}

function refuseMissingKeys(used: ReadonlyMap<string, number>, vault: Vault): void {
  const lost = [...used].filter(([key]) => !vault.canOpen(key));
  if (lost.length === 0) return;
  const named = lost.map(([key, total]) => `${key} (${count(total)} values)`).join(', ');
  throw new Refused(
    `Some values need a key that is missing: ${named}. Add it to CARD_KEY; nothing was changed.`,
  );
}

async function sealEverything(db: Db, vault: Vault, progress: Progress): Promise<number> {
  const progressOf = {
    resealed: (values: number) => {
      progress.update(`Rotating the card key: ${count(values)} values`);
    },
    waiting: () => {
      progress.update('Rotating the card key: waiting for older transactions to end');
    },
    pause,
  };
  return resealEverything(db, vault, progressOf).catch((error: unknown) => {
    throw error instanceof UnopenableValue ? new Refused(error.message) : error;
  });
}

function dropOld(dataDir: string): number {
  const [current, ...old] = watchCardKeys(dataDir)();
  saveCardKeys(dataDir, [current] satisfies Keys);
  return old.length;
}

const conclusion = (
  keyId: string,
  total: number,
  { kept, dropped }: { kept: boolean; dropped: number },
): string => {
  // Otherwise it would look like success at the wrong step of a rotation.
  if (!kept && total === 0)
    return `Nothing to do: all values use the first key of CARD_KEY already, ${keyId}. To rotate, put the new key first (step 2 in ${call('secrets rotate --help')}). If ${keyId} is the new key, the rotation is done, and older keys can be removed from CARD_KEY.`;
  return [
    `Encrypted ${count(total)} values with key ${keyId}; no value uses another key, and all are bound to their rows.`,
    !kept && 'Older keys can be removed from CARD_KEY, once no instance has one of them as its first key.',
    kept && dropped > 0 && 'The old key was removed from DATA_DIR.',
    kept && dropped === 0 && 'The old key is still in DATA_DIR and can be removed.',
  ]
    .filter(Boolean)
    .join(' ');
};
