// Fingerprints tell whether two cards of a merchant account are the same. Each account has a key of its own: with one key for
// all, whoever may store cards in one account could recognise the cards of another. A stored fingerprint starts with its
// version, the ID of the key, like a sealed value. Fingerprints of different versions must never be compared.
import { createHash, createHmac } from 'node:crypto';

export interface Fingerprints {
  /** The version of new fingerprints. */
  readonly version: string;
  /** The versions of the keys that were used before. */
  readonly older: readonly string[];
  /** As it is stored: `version.hex`. */
  make: (account: string, number: string) => string;
}

const versionOfKey = (key: Buffer): string =>
  createHash('sha256').update('fingerprint version').update(key).digest('hex').slice(0, 8);

/** The first key makes fingerprints; the others did so before. */
export function createFingerprints([current, ...others]: readonly [Buffer, ...Buffer[]]): Fingerprints {
  const version = versionOfKey(current);
  return {
    version,
    older: others.map(versionOfKey),
    make: (account, number) => `${version}.${fingerprintOf(current, account, number)}`,
  };
}

/** Keyed, so that it cannot be reversed by trying all card numbers. */
function fingerprintOf(key: Buffer, account: string, number: string): string {
  const ofAccount = createHmac('sha256', key).update(`fingerprints of account ${account}`).digest();
  return createHmac('sha256', ofAccount).update(number).digest('hex');
}

export const versionOf = (stored: string): string => stored.replace(/\..*/, '');

/** What the API shows of a stored fingerprint. */
export const shownFingerprint = (stored: string | null | undefined): string | null =>
  stored?.replace(/^.*\./, '') ?? null;
