// The sandbox makes its own secrets at the first start and keeps them in DATA_DIR, readable by its owner only. Production
// brings its own.
import { randomBytes } from 'node:crypto';
import {
  chownSync,
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { Keys } from '../domain/vault.ts';

type Kept = Record<string, string>;

export class SecretsFault extends Error {}

const fileIn = (dataDir: string) => join(dataDir, 'secrets.json');
const decode = (text: string): Keys =>
  text.split(',').map((key) => Buffer.from(key, 'base64')) as unknown as Keys;

/** Those given win; the rest are read from DATA_DIR, and made there if they are missing. */
export function sandboxSecrets<Name extends string>(
  dataDir: string,
  names: readonly Name[],
  given: Readonly<Partial<Record<Name, Buffer | undefined>>>,
): Record<Name, Buffer> {
  const file = fileIn(dataDir);
  mkdirSync(dataDir, { recursive: true });
  const kept = read(file) ?? make(file, {}, names);
  const complete = names.every((name) => kept[name] !== undefined) ? kept : make(file, kept, names);
  const entries = names.map((name) => [name, given[name] ?? decode(complete[name] ?? '')[0]] as const);
  return Object.fromEntries(entries) as Record<Name, Buffer>;
}

/** The card keys as the file has them now: a look at the file's entry each time, a read when it is another file. */
export function watchCardKeys(dataDir: string): () => Keys {
  const file = fileIn(dataDir);
  let version = '';
  let keys: Keys | undefined;
  return () => {
    const found = statSync(file, { throwIfNoEntry: false });
    const now = found ? `${found.ino} ${found.mtimeMs} ${found.size}` : version;
    if (keys && now === version) return keys;
    keys = decode(read(file)?.CARD_KEY ?? '');
    version = now;
    return keys;
  };
}

/** Returns once it is on disk: what is sealed with a key that a power cut takes away is lost. */
export function keepCardKeys(dataDir: string, keys: Keys): void {
  const file = fileIn(dataDir);
  const CARD_KEY = keys.map((key) => key.toString('base64')).join(',');
  replace(file, { ...read(file), CARD_KEY });
}

function read(file: string): Kept | undefined {
  try {
    const kept = JSON.parse(readFileSync(file, 'utf8')) as Kept;
    if (Object.values(kept).every((text) => decode(text).every((key) => key.length === 32))) return kept;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
  }
  throw new SecretsFault(
    `${file} cannot be read as the sandbox's secrets. Put it back, or remove it and lose the cards that were stored with it.`,
  );
}

const draftOf = (file: string, kept: Kept): string => {
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify(kept, null, 2)}\n`, { mode: 0o600, flush: true });
  return draft;
};

// Under another name first: nobody reads half a file, and no crash leaves none. It stays its owner's, also when root
// helps out.
function replace(file: string, kept: Kept): void {
  const draft = draftOf(file, kept);
  const { uid, gid } = statSync(file);
  if (uid !== process.getuid?.()) chownSync(draft, uid, gid);
  renameSync(draft, file);
  const folder = openSync(dirname(file), 'r');
  fsyncSync(folder);
  closeSync(folder);
}

// The first is linked to its name, which fails if there is one: two that start at once agree.
function make(file: string, kept: Kept, names: readonly string[]): Kept {
  const made = Object.fromEntries(
    names.map((name) => [name, kept[name] ?? randomBytes(32).toString('base64')]),
  );
  if (Object.keys(kept).length > 0) {
    replace(file, made);
    return made;
  }
  const draft = draftOf(file, made);
  try {
    linkSync(draft, file);
    return made;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return read(file) ?? made;
  } finally {
    rmSync(draft, { force: true });
  }
}

export const sandboxKeyFile = (dataDir: string): string => join(dataDir, 'sandbox-key.pem');
