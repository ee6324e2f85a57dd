// `payments secrets rotate`: another card key, and everything sealed with it, while the service runs.
import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { Command } from 'commander';
import { sql, type Kysely } from 'kysely';
import type { Config } from '../config.ts';
import { keyIdOf, type Keys, type Vault } from '../domain/vault.ts';
import type { Services } from '../handlers/deps.ts';
import { keepCardKeys, watchCardKeys } from '../sandbox/secrets-file.ts';
import { keepsCardKey } from '../secrets.ts';
import type { OpenedDatabase } from '../store/open.ts';
import { countSealed, outlastTransactions, resealAll } from '../store/reseal.ts';
import type { Tables } from '../store/schema.ts';
import { count, startProgress, type Progress } from './progress.ts';
import { Refused } from './output.ts';
import { withServices } from './support.ts';

const pause = () => wait(200);

export function secrets(): Command {
  const command = new Command('secrets').description('the keys that protect what is stored');
  command
    .command('rotate')
    .description(
      'seal card numbers, gift cards and webhook secrets with a new card key, while the service runs',
    )
    .option('--keep-old', 'keep the old key in DATA_DIR, as for a backup that needs it')
    .addHelpText(
      'after',
      `
In the sandbox the key lies in DATA_DIR: a new one is made there, everything is sealed with it, and the old one is dropped.
Where CARD_KEY is set, the keys are yours. Make a new one (openssl rand -base64 32), and then
  1. start every instance with CARD_KEY=<old>,<new>   now each can open what another seals with the new one
  2. start every instance with CARD_KEY=<new>,<old>   the first key seals
  3. with the same CARD_KEY: payments secrets rotate
  4. start every instance with CARD_KEY=<new>
Interrupted, it goes on where it was when it is run again.`,
    )
    .action(({ keepOld = false }: { keepOld?: boolean }) =>
      withServices((database, services, config) => rotate(database, services, config, keepOld)),
    );
  return command;
}

async function rotate(
  { db }: OpenedDatabase,
  { vault }: Services,
  config: Config,
  keepOld: boolean,
): Promise<void> {
  const progress = startProgress('Rotating the card key');
  try {
    // On a connection of its own, for as long as the work lasts: two at once would each make a key.
    await db.connection().execute(async (alone) => {
      const { rows } = await sql<{ free: boolean }>`
        select pg_try_advisory_lock(hashtext('rotate-secrets')) as free`.execute(alone);
      if (rows[0]?.free !== true) throw new Refused('Another rotation is under way.');
      try {
        const kept = keepsCardKey(config);
        if (kept) await makeKey(db, vault, config.dataDir);
        const total = await sealEverything(db, vault, progress);
        const dropped = kept && !keepOld ? dropOld(config.dataDir) : 0;
        progress.done(conclusion(vault.keyId, total, { kept, dropped }));
      } finally {
        await sql`select pg_advisory_unlock(hashtext('rotate-secrets'))`.execute(alone);
      }
    });
  } catch (error) {
    progress.failed();
    throw error;
  }
}

/** A new first key, unless an interrupted rotation has made one that is not used everywhere yet. */
async function makeKey(db: Kysely<Tables>, vault: Vault, dataDir: string): Promise<void> {
  const keys = watchCardKeys(dataDir)();
  const used = await countSealed(db);
  if (keys.slice(1).some((key) => used.has(keyIdOf(key)))) return;
  keepCardKeys(dataDir, [randomBytes(32), ...keys]);
  if (vault.keyId === keyIdOf(keys[0])) throw new Error('The new key did not reach the vault.');
}

/** Until nothing is sealed with another key, and nothing more can come. */
async function sealEverything(db: Kysely<Tables>, vault: Vault, progress: Progress): Promise<number> {
  const { keyId } = vault;
  const before = await countSealed(db);
  const lost = [...before].filter(([key]) => !vault.canOpen(key));
  if (lost.length > 0) {
    const named = lost.map(([key, total]) => `${key} (${count(total)} values)`).join(', ');
    throw new Refused(
      `What is sealed with ${named} cannot be opened. Add that key to CARD_KEY; nothing was changed.`,
    );
  }
  let done = 0;
  const onProgress = (resealed: number) => {
    done += resealed;
    progress.say(`Rotating the card key: ${count(done)} values`);
  };
  const reseal: Parameters<typeof resealAll>[1]['reseal'] = (sealed, purpose) =>
    vault.seal(vault.open(sealed, purpose), purpose);
  await resealAll(db, { keyId, reseal, onProgress });
  progress.say('Rotating the card key: waiting for what began before');
  await outlastTransactions(db, pause);
  for (;;) {
    await resealAll(db, { keyId, reseal, onProgress });
    const left = [...(await countSealed(db))].filter(([key]) => key !== keyId);
    if (left.length === 0) return done;
    await pause();
  }
}

function dropOld(dataDir: string): number {
  const [current, ...old] = watchCardKeys(dataDir)();
  keepCardKeys(dataDir, [current] satisfies Keys);
  return old.length;
}

const conclusion = (
  keyId: string,
  total: number,
  { kept, dropped }: { kept: boolean; dropped: number },
): string =>
  [
    `Sealed ${count(total)} values with key ${keyId}; none uses another.`,
    !kept && 'Older keys may be dropped from CARD_KEY, once no instance has one of them in the first place.',
    kept && dropped > 0 && 'The old key is dropped from DATA_DIR.',
    kept && dropped === 0 && 'The old key is kept in DATA_DIR and may be dropped.',
  ]
    .filter(Boolean)
    .join(' ');
