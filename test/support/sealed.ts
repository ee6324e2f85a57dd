import { sealedWith } from '../../server/secrets/vault.ts';
import type { Db } from '../../server/database/database.ts';
import { listSealed } from '../../server/secrets/reseal.ts';

/** The IDs of the keys that stored values are sealed with. */
export async function keysUsed(db: Db): Promise<string[]> {
  const used = new Set<string>();
  await listSealed(db, ({ sealed }) => used.add(sealedWith(sealed)));
  return [...used].sort();
}
