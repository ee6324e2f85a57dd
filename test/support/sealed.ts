import { sealedWith } from '../../server/domain/vault.ts';
import type { Db } from '../../server/store/database.ts';
import { listSealed } from '../../server/store/reseal.ts';

/** The IDs of the keys that stored values are sealed with. */
export async function keysUsed(db: Db): Promise<string[]> {
  const used = new Set<string>();
  await listSealed(db, ({ sealed }) => used.add(sealedWith(sealed)));
  return [...used].sort();
}
