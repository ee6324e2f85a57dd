// The sandbox generates its secrets at the first start and stores them in DATA_DIR, readable only by the owner. Production
// must configure them.
import { randomBytes } from 'node:crypto';
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { programName } from '../../../generated/operations.ts';
import { createPrivate, readPrivate, writePrivate } from '../database/embedded/data-dir.ts';
import { OperatorFault } from '../faults.ts';
import type { Keys } from './vault.ts';

const fileIn = (dataDir: string) => join(dataDir, 'secrets.json');
const decode = (text: string): Keys =>
  text.split(',').map((key) => Buffer.from(key, 'base64')) as unknown as Keys;

export type SandboxSecrets = Readonly<Record<string, Keys>>;

/** Reads the secrets with these names, and generates those that are missing. */
export function makeSandboxSecrets(dataDir: string, names: readonly string[]): SandboxSecrets {
  const file = fileIn(dataDir);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const stored = read(file);
  if (stored && names.every((name) => name in stored)) return stored;
  const fresh = Object.fromEntries(names.map((name): [string, Keys] => [name, [randomBytes(32)]]));
  const complete = { ...fresh, ...stored };
  if (stored) writePrivate(file, textOf(complete));
  // Two processes that start at once use the file of the one that created it.
  else if (!createPrivate(file, textOf(complete))) return read(file) ?? complete;
  return complete;
}

/** The same for what must change nothing: it refuses if some are missing. */
export function readSandboxSecrets(dataDir: string, names: readonly string[]): SandboxSecrets {
  const file = fileIn(dataDir);
  const stored = read(file) ?? {};
  const missing = names.filter((name) => !(name in stored));
  if (missing.length === 0) return stored;
  throw new OperatorFault(
    `${missing.join(', ')} missing in ${file}, and this command creates nothing. Start the service if it has never run, otherwise restore the file. If it is lost: ${programName} secrets replace-lost-keys`,
  );
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
    keys = read(file)?.CARD_KEY ?? decode('');
    version = current;
    return keys;
  };
}

/** Syncs to disk before it returns: values encrypted with a key that a power cut erased would be lost. */
export function saveCardKeys(dataDir: string, keys: Keys): void {
  const file = fileIn(dataDir);
  writePrivate(file, textOf({ ...read(file), CARD_KEY: keys }));
}

function read(file: string): SandboxSecrets | undefined {
  const text = readPrivate(file);
  if (text === undefined) return undefined;
  try {
    const stored = Object.entries(JSON.parse(text) as Record<string, string>);
    const secrets = stored.map(([name, value]) => [name, decode(value)] as const);
    if (secrets.every(([, keys]) => keys.every((key) => key.length === 32)))
      return Object.fromEntries(secrets);
  } catch {
    // Not JSON: the same fault as JSON of another shape.
  }
  throw new OperatorFault(
    `${file} does not contain valid sandbox secrets. Restore it. If it is lost, remove it, and run: ${programName} secrets replace-lost-keys`,
  );
}

function textOf(secrets: SandboxSecrets): string {
  const encode = (keys: Keys) => keys.map((key) => key.toString('base64')).join(',');
  const texts = Object.entries(secrets).map(([name, keys]) => [name, encode(keys)] as const);
  return `${JSON.stringify(Object.fromEntries(texts), null, 2)}\n`;
}

export const sandboxKeyFile = (dataDir: string): string => join(dataDir, 'sandbox-key.pem');
