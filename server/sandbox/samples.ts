// What a new sandbox has: buyers, cards and gift cards in its first account, transactions in both.
import type { UnitOfWork } from '../kit/database/unit-of-work.ts';
import type { CardSecrets } from '../resources/payment-methods/changes.ts';
import { importTransactions } from '../resources/transactions/changes.ts';
import { createSampleRecords } from './sample-records.ts';
import { createSamples } from './sample-transactions.ts';

const transactions: Readonly<Record<string, number>> = { default: 300, marketplace: 60 };

/** `accounts` are those that have just been created. */
export async function fillAccounts(
  unit: UnitOfWork,
  accounts: readonly string[],
  secrets: CardSecrets,
): Promise<void> {
  if (accounts.includes('default')) await createSampleRecords(unit, 'default', secrets);
  const parts = [];
  for (const account of accounts) {
    const keys = await secrets.keysOf(unit.db, account);
    const sampleAt = createSamples(account, { seed: 1, until: unit.now, keys });
    parts.push({ rows: Array.from({ length: transactions[account] ?? 0 }, (_, index) => sampleAt(index)) });
  }
  await importTransactions(unit, parts);
}
