// Deletes gift cards, with the kept answers that show them. No event has ever shown one. Redemptions in transactions stay.
import { listAccountsOf } from '../../kit/database/across-accounts.ts';
import type { Db } from '../../kit/database/database.ts';
import { requireRightToErase } from '../../kit/database/grants.ts';
import { deleteGiftCards } from '../gift-cards/changes.ts';
import { beginErasure, endErasure, eraseAnswers, erasureBy, listErasures } from './queries.ts';
import { refreshStatistics } from './statistics.ts';
import { createSteps, type FoundRecords, type StepOptions } from './steps.ts';

const tables = ['gift_cards', 'idempotency_keys'];

const commandOf = (id: string) => `gift-cards erase ${id}`;

export async function eraseGiftCards(
  ids: readonly string[],
  { db, ...options }: StepOptions & { db: Db },
): Promise<{ found: FoundRecords; unknown: string[] }> {
  await requireRightToErase(db, tables);
  const byAccount = await listAccountsOf(db, 'gift_cards', ids);
  const known = new Set([...byAccount.values()].flat());
  // Of an interrupted run, the statistics are left.
  const begun = new Set(await listErasures(db));
  for (const id of ids) if (begun.has(commandOf(id))) known.add(id);
  const marks = [...known].map((id) => erasureBy(commandOf(id)));
  const { found, step } = createSteps(options, (unit) => beginErasure(unit, marks));
  for (const [account, own] of byAccount)
    await step('gift_cards', async (unit) => {
      await eraseAnswers(unit.db, account, own);
      return deleteGiftCards(unit, account, own);
    });
  if (!options.dryRun && known.size > 0) {
    await refreshStatistics(db, tables);
    await options.inStep((unit) => endErasure(unit, marks));
  }
  return { found, unknown: ids.filter((id) => !known.has(id)) };
}
