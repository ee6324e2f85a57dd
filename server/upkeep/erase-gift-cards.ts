// Deletes gift cards, with the kept answers that show them. No event has ever shown one. Redemptions in transactions stay.
import { listAccountsOf } from '../database/across-accounts.ts';
import type { Db } from '../database/database.ts';
import { deleteGiftCards } from '../resources/gift-cards/changes.ts';
import { eraseAnswers, refreshStatistics } from './erasure-queries.ts';
import { createSteps, type FoundRecords, type StepOptions } from './erasure-steps.ts';

export async function eraseGiftCards(
  ids: readonly string[],
  { db, ...options }: StepOptions & { db: Db },
): Promise<{ found: FoundRecords; unknown: string[] }> {
  const byAccount = await listAccountsOf(db, 'gift_cards', ids);
  const { found, step } = createSteps(options, () => Promise.resolve());
  for (const [account, own] of byAccount)
    await step('gift_cards', async (unit) => {
      await eraseAnswers(unit.db, account, own);
      return deleteGiftCards(unit, account, own);
    });
  if (!options.dryRun && byAccount.size > 0) await refreshStatistics(db, ['gift_cards', 'idempotency_keys']);
  const known = new Set([...byAccount.values()].flat());
  return { found, unknown: ids.filter((id) => !known.has(id)) };
}
