// `secrets`: a new card key that everything is re-encrypted with while the service runs.
import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { Command } from 'commander';
import { programName } from '../../generated/operations.ts';
import type { Config } from '../config.ts';
import { loadFacts } from '../domain.ts';
import { confirm } from '../kit/cli/input.ts';
import { printResult, withExamples, type JsonOption } from '../kit/cli/output.ts';
import { count, withProgress } from '../kit/cli/progress.ts';
import type { Db } from '../kit/database/database.ts';
import { withLock } from '../kit/database/unit-of-work.ts';
import { OperatorFault } from '../kit/faults.ts';
import { guide } from '../kit/guides.ts';
import { visibleLines } from '../kit/log/visible.ts';
import { listLostKeys, replaceKeys, type LostKey } from '../kit/secrets/lost-keys.ts';
import {
  countInstanceConnections,
  findKeyIds,
  findMissingKeys,
  resealEverything,
} from '../kit/secrets/reseal.ts';
import { saveCardKeys, watchCardKeys } from '../kit/secrets/secrets-file.ts';
import { keyIdOf, type Keys, type Vault } from '../kit/secrets/vault.ts';
import { isCardKeyInDataDir } from '../open-secrets.ts';
import { withService, type Call, type OpenedService } from './service.ts';

const { sealedColumns } = await loadFacts();

export function makeCommand(call: Call): Command {
  const command = new Command('secrets');
  command
    .command('rotate')
    .description(
      'encrypt card numbers, gift cards, webhook secrets and everything else with a new card key, while the service runs',
    )
    .option('--keep-old', 'keep the old key in DATA_DIR, for example because backups need it')
    .option(
      '--yes',
      'confirm that every instance has the new key first in CARD_KEY; required in production while one is connected, and behind a pooler',
    )
    .addHelpText(
      'after',
      `
In the sandbox the key is in DATA_DIR: the command creates a new one, encrypts everything with it and removes the old one.
If you set CARD_KEY (or CARD_KEY_FILE) yourself, create a new key (openssl rand -base64 32), and then
  1. restart every instance with CARD_KEY=<old>,<new>
     now every instance can decrypt values of the new key
  2. restart every instance with CARD_KEY=<new>,<old>
     the first key encrypts
  3. run, with the same CARD_KEY: ${programName} secrets rotate --yes
     --yes says that step 2 is done on every instance
  4. restart every instance with CARD_KEY=<new>
If the command is interrupted, run it again: it continues where it stopped. All keys: ${guide('guides/keys.md')}.`,
    )
    .action((options: Options) =>
      withService(call, (service) => rotate(service, options), { creates: true }),
    );
  withExamples(command.command('replace-lost-keys'), 'secrets replace-lost-keys --yes')
    .description(
      'after the loss of a card key: make new digest keys, so that the service starts and stores cards again',
    )
    .option('--yes', 'do not ask; behind a pooler, this also says that every instance has stopped')
    .addHelpText(
      'after',
      `
First look for the key in older configurations. Stop every instance, and call this with the new CARD_KEY.
${whatIsLost}`,
    )
    .action((options: Options) =>
      withService(call, (service) => replaceLost(service, options), { creates: true }),
    );
  return command;
}

interface Options extends JsonOption {
  keepOld?: boolean;
  yes?: boolean;
}

async function rotate(
  { db, change, secrets: { vault }, config }: OpenedService,
  { keepOld = false, yes = false, ...output }: Options,
): Promise<void> {
  const kept = isCardKeyInDataDir(config);
  const rotation = await withProgress('Rotating the card key', (update) =>
    // Two rotations at the same time would each create a key.
    withLock(db, 'rotate secrets', async () => {
      await refuseMissingKeys(db, vault);
      if (config.environment === 'production' && !yes) await refuseUnconfirmed(db, config, vault.keyId);
      if (kept) await createKey(db, vault, config.dataDir);
      const encrypted = await resealEverything(db, sealedColumns, vault, {
        begins: () => change((unit) => unit.audit({})),
        resealed: (values) => {
          update(`Rotating the card key: ${count(values)} values`);
        },
        waiting: () => {
          update('Rotating the card key: waiting for older transactions to end');
        },
        pause: () => setTimeout(200),
      });
      return { encrypted, old_keys_removed: kept && !keepOld ? dropOld(config.dataDir) : 0 };
    }),
  );
  if (!rotation) throw new OperatorFault('Another rotation is running.');
  const { encrypted, old_keys_removed: dropped } = rotation.done;
  const sentence = conclusion(vault.keyId, encrypted, { kept, dropped });
  printResult(output, { key: vault.keyId, ...rotation.done }, sentence);
}

/**
 * What is known of instances that run; undefined if none does. A pooler keeps connections of instances that have stopped, and lends
 * those of others to commands, so their names say nothing.
 */
async function findInstances(db: Db, { databasePooler }: Config): Promise<string | undefined> {
  if (databasePooler !== undefined) return 'Behind a pooler, nothing shows whether an instance runs';
  const connections = await countInstanceConnections(db);
  if (connections === 0) return undefined;
  return `The service is connected to the database (${count(connections, 'connection')})`;
}

/** An instance without the new key could not read the result, and nothing in the database tells which keys it has. */
async function refuseUnconfirmed(db: Db, config: Config, keyId: string): Promise<void> {
  const instances = await findInstances(db, config);
  if (instances === undefined) return;
  throw new OperatorFault(
    `${instances}. Every instance must already have the new key ${keyId} first in CARD_KEY or CARD_KEY_FILE (step 2 in ${programName} secrets rotate --help), or it cannot read the result. If all have it: ${programName} secrets rotate --yes. Nothing was changed.`,
  );
}

/** Adds a new first key, unless values show that an interrupted rotation created one and is not finished. */
async function createKey(db: Db, vault: Vault, dataDir: string): Promise<void> {
  const keys = watchCardKeys(dataDir)();
  const used = await findKeyIds(db, sealedColumns);
  if (keys.slice(1).some((key) => used.includes(keyIdOf(key)))) return;
  saveCardKeys(dataDir, [randomBytes(32), ...keys]);
  if (vault.keyId === keyIdOf(keys[0])) throw new Error('The new key did not reach the vault.');
}

/** By a sample: of a value that needs another one, the rotation tells when it gets there. */
async function refuseMissingKeys(db: Db, vault: Vault): Promise<void> {
  const found = await findMissingKeys(db, sealedColumns, vault);
  if (!found) return;
  const named = found.missing.join(', ');
  throw new OperatorFault(
    `Some values need a key that is missing: ${named}. Add it to CARD_KEY (or CARD_KEY_FILE). If it is lost: ${programName} secrets replace-lost-keys, and see "A lost key" in ${guide('guides/keys.md')}. Nothing was changed.`,
  );
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
    return `Nothing to do: all values use the first key of CARD_KEY (or CARD_KEY_FILE) already, ${keyId}. To rotate, put the new key first (step 2 in ${programName} secrets rotate --help). If ${keyId} is the new key, the rotation is done, and older keys can be removed.`;
  return [
    `Encrypted ${count(total)} values with key ${keyId}; no value uses another key.`,
    !kept &&
      'Older keys can be removed from CARD_KEY (or CARD_KEY_FILE), once no instance has one of them as its first key.',
    kept && dropped > 0 && 'The old key was removed from DATA_DIR.',
    kept && dropped === 0 && 'The old key is still in DATA_DIR and can be removed.',
  ]
    .filter(Boolean)
    .join(' ');
};

const whatIsLost =
  'What was sealed with the lost key stays unreadable: card numbers, gift cards, webhook secrets. A card gets another fingerprint than before, limits on numbers and PINs begin anew, and requests that are repeated with an Idempotency-Key of the last day are carried out again. Digest keys that open stay as they are.';

async function replaceLost(
  { db, change, secrets: { vault }, config }: OpenedService,
  { yes = false, ...output }: Options,
): Promise<void> {
  // They remember the keys that they could open, and would go on with them.
  const instances = await findInstances(db, config);
  if (instances !== undefined && config.databasePooler === undefined)
    throw new OperatorFault(
      `${instances}. Stop every instance first. If all have stopped, a pooler keeps these connections: set DATABASE_POOLER=transaction. Nothing was changed.`,
    );
  const found = await listLostKeys(db, sealedColumns, vault);
  if (found.length === 0)
    throw new OperatorFault(
      'Nothing to do: CARD_KEY (or CARD_KEY_FILE) opens all digest keys. Nothing was changed.',
    );
  const [made, back] = [
    found.filter(({ kept }) => kept === undefined),
    found.filter(({ kept }) => kept !== undefined),
  ];
  const putBack =
    back.length > 0 &&
    `Put back, because CARD_KEY (or CARD_KEY_FILE) opens what an earlier call had kept: ${namesOf(back)}.`;
  if (!yes) {
    const lines = [
      made.length > 0 && `New digest keys for: ${namesOf(made)}. ${whatIsLost}`,
      putBack,
      instances !== undefined && `${instances}: make sure that every one has stopped.`,
    ];
    console.error(visibleLines(lines.filter(Boolean).join('\n')));
    await confirm('Replace them?');
  }
  await change(async (unit) => {
    const keys = await listLostKeys(unit.db, sealedColumns, vault);
    await replaceKeys(unit, keys, vault);
    await unit.audit({ about: namesOf(keys) });
  });
  const sentence = [
    made.length > 0 && `New digest keys, sealed with key ${vault.keyId}: ${namesOf(made)}.`,
    putBack,
    'The replaced values are kept in the table settings. Start the service now.',
  ].filter(Boolean);
  const accountsOf = (keys: LostKey[]) => keys.map(({ account }) => account);
  printResult(
    output,
    { key: vault.keyId, replaced: accountsOf(made), put_back: accountsOf(back) },
    sentence.join(' '),
  );
}

const namesOf = (keys: readonly LostKey[]): string =>
  keys.map(({ account }) => account ?? 'the installation').join(', ');
