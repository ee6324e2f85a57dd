// Notices keys that do not fit the stored values, by a sample of them.
import type { Fingerprints } from '../domain/fingerprints.ts';
import type { Vault } from '../domain/vault.ts';
import type { Db } from '../store/database.ts';
import { sampleVersions } from '../store/fingerprints.ts';
import { sampleKeyIds } from '../store/sealing.ts';

export interface MissingKeys {
  name: 'CARD_KEY' | 'FINGERPRINT_KEY';
  /** IDs of the keys. */
  missing: string[];
  /** Whether no value of the sample fits a key that is given. */
  isWhollyWrong: boolean;
}

export const isGiven = ({ version, older }: Fingerprints, used: string): boolean =>
  [version, ...older].includes(used);

export async function findMissingKeys(
  db: Db,
  { vault, fingerprints }: { vault: Vault; fingerprints: Fingerprints },
): Promise<MissingKeys[]> {
  const compare = (name: MissingKeys['name'], used: string[], isKnown: (id: string) => boolean) => {
    const missing = used.filter((id) => !isKnown(id));
    return missing.length === 0 ? [] : [{ name, missing, isWhollyWrong: missing.length === used.length }];
  };
  return [
    ...compare('CARD_KEY', await sampleKeyIds(db), vault.canOpen),
    ...compare('FINGERPRINT_KEY', await sampleVersions(db), (id) => isGiven(fingerprints, id)),
  ];
}
