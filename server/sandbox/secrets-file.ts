// The sandbox generates its secrets at the first start and stores them in DATA_DIR, readable only by the owner. Production
// must configure them.
import { randomBytes } from 'node:crypto';
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Keys } from '../secrets/vault.ts';
import { createPrivate, readPrivate, writePrivate } from '../database/embedded/data-dir.ts';
import { OperatorFault } from '../operator-fault.ts';

type StoredSecrets = Record<string, string>;

const fileIn = (dataDir: string) => join(dataDir, 'secrets.json');
const decode = (text: string): Keys =>
  text.split(',').map((key) => Buffer.from(key, 'base64')) as unknown as Keys;

type Given<Name extends string> = Readonly<Partial<Record<Name, Keys | undefined>>>;

/** Configured secrets take precedence; the others are read from DATA_DIR, and generated if they are missing. */
export function sandboxSecrets<Name extends string>(
  dataDir: string,
  names: readonly Name[],
  given: Given<Name>,
): Record<Name, Keys> {
  const file = fileIn(dataDir);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const stored = read(file) ?? generateMissing(file, {}, names);
  const isComplete = names.every((name) => stored[name] !== undefined);
  return preferring(given, isComplete ? stored : generateMissing(file, stored, names), names);
}

/** The same for what must change nothing: it refuses if some are missing. */
export function storedSecrets<Name extends string>(
  dataDir: string,
  names: readonly Name[],
  given: Given<Name>,
): Record<Name, Keys> {
  const file = fileIn(dataDir);
  const stored = read(file) ?? {};
  const missing = names.filter((name) => given[name] === undefined && stored[name] === undefined);
  if (missing.length === 0) return preferring(given, stored, names);
  throw new OperatorFault(
    `${missing.join(', ')} missing in ${file}, and this command creates nothing. Restore the file, or start the service if it has never run.`,
  );
}

function preferring<Name extends string>(
  given: Given<Name>,
  stored: StoredSecrets,
  names: readonly Name[],
): Record<Name, Keys> {
  const entries = names.map((name) => [name, given[name] ?? decode(stored[name] ?? '')] as const);
  return Object.fromEntries(entries) as Record<Name, Keys>;
}

/** Returns the current card keys at each call. Reads the file again only when it has changed. */
export function watchCardKeys(dataDir: string): () => Keys {
  const file = fileIn(dataDir);
  let version = '';
  let keys: Keys | undefined;
  return () => {
    const found = statSync(file, { throwIfNoEntry: false });
    const current = found ? `${found.ino} ${found.mtimeMs} ${found.size}` : version;
    if (keys && current === version) return keys;
    keys = decode(read(file)?.CARD_KEY ?? '');
    version = current;
    return keys;
  };
}

/** Syncs to disk before it returns: values encrypted with a key that a power cut erased would be lost. */
export function saveCardKeys(dataDir: string, keys: Keys): void {
  const file = fileIn(dataDir);
  const CARD_KEY = keys.map((key) => key.toString('base64')).join(',');
  writePrivate(file, textOf({ ...read(file), CARD_KEY }));
}

function read(file: string): StoredSecrets | undefined {
  const text = readPrivate(file);
  if (text === undefined) return undefined;
  try {
    const stored = JSON.parse(text) as StoredSecrets;
    if (Object.values(stored).every((value) => decode(value).every((key) => key.length === 32)))
      return stored;
  } catch {
    // Not JSON: the same fault as JSON of another shape.
  }
  throw new OperatorFault(
    `${file} does not contain valid sandbox secrets. Restore it, or remove it and lose the cards that were stored with it.`,
  );
}

const textOf = (secrets: StoredSecrets): string => `${JSON.stringify(secrets, null, 2)}\n`;

// Two processes that start at once use the file of the one that created it.
function generateMissing(file: string, stored: StoredSecrets, names: readonly string[]): StoredSecrets {
  const complete = Object.fromEntries(
    names.map((name) => [name, stored[name] ?? randomBytes(32).toString('base64')]),
  );
  if (Object.keys(stored).length > 0) {
    writePrivate(file, textOf(complete));
    return complete;
  }
  return createPrivate(file, textOf(complete)) ? complete : (read(file) ?? complete);
}

export const sandboxKeyFile = (dataDir: string): string => join(dataDir, 'sandbox-key.pem');
