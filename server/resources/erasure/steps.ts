// The steps of an erasure: small transactions, each in one account, with counts of what they changed.
import { count } from '../../kit/cli/progress.ts';
import type { InStep, Work } from '../../kit/database/unit-of-work.ts';
import { groupByAccount } from '../../kit/rules/accounts.ts';
import type { FoundPage, FoundRow } from './pages.ts';

/** How many records had something to erase, by table. */
export type FoundRecords = Record<string, number>;

export interface StepOptions {
  inStep: InStep;
  /** Counts, and changes nothing: each transaction is rolled back. */
  dryRun: boolean;
  onProgress: (soFar: FoundRecords) => void;
}

class RolledBack extends Error {}

/** `begin` notes, with the first change, that there is something left to do until the erasure has come to its end. */
export function createSteps(
  { inStep, dryRun, onProgress }: StepOptions,
  begin: (unit: Work) => Promise<unknown>,
) {
  const found: FoundRecords = {};
  /** Runs a transaction, and counts what it changed: `work` returns how many records. */
  const step = async (name: string, work: (unit: Work) => Promise<number>): Promise<void> => {
    let changed = 0;
    await inStep(async (unit) => {
      changed = await work(unit);
      if (dryRun) throw new RolledBack();
      if (changed === 0) return;
      await begin(unit);
      await unit.audit({});
    }).catch((error: unknown) => {
      if (!(error instanceof RolledBack)) throw error;
    });
    found[name] = (found[name] ?? 0) + changed;
    onProgress(found);
  };
  /** One transaction for each account on a page. Returns whether there was anything. */
  const steps = async <Place>(
    name: string,
    places: readonly Place[],
    list: (place: Place, after: FoundRow | undefined) => Promise<FoundPage>,
    change: (unit: Work, account: string, ids: readonly string[]) => Promise<number>,
  ): Promise<boolean> => {
    found[name] = 0;
    let isFound = false;
    for (const place of places) {
      let after: FoundRow | undefined;
      do {
        const { rows, next } = await list(place, after);
        isFound ||= rows.length > 0;
        for (const [account, own] of groupByAccount(rows, (row) => row.account))
          await step(name, (unit) =>
            change(
              unit,
              account,
              own.map(({ id }) => id),
            ),
          );
        after = next;
      } while (after);
    }
    return isFound;
  };
  return { found, step, steps };
}

/** How many records of each table: `2 cards, 1 idempotency key`. */
export const listed = (found: Readonly<Record<string, number>>): string =>
  Object.entries(found)
    .map(([table, records]) => count(records, nounOf(table)))
    .join(', ');

const nounOf = (table: string): string =>
  table === 'payment_methods' ? 'card' : table.replaceAll('_', ' ').replace(/s$/, '');
