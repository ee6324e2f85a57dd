// `payments buyers erase`: removes the personal data of one buyer.
import { Command } from 'commander';
import { eraseBuyer, type Erasure } from '../upkeep/erase-buyer.ts';
import { readUuid } from '../rules/uuid.ts';
import { withLock } from '../database/locks.ts';
import { OperatorFault } from '../operator-fault.ts';
import { asksYes } from './input.ts';
import { asResult, call, resultText, shellWord } from './output.ts';
import { count, startProgress, type Progress } from './progress.ts';
import { auditOnce, withDatabase } from './support.ts';

interface Options {
  references?: boolean;
  dryRun?: boolean;
  yes?: boolean;
  json?: boolean;
}

export const eraseCommand = (): Command =>
  asResult(new Command('erase'))
    .description('remove the personal data of a buyer; amounts and states of its transactions stay')
    .argument('<id>', 'the ID of the buyer')
    .option('--references', "erase the merchant's reference (external_identifier) of its transactions, too")
    .option('--dry-run', 'count the records that have personal data, and change nothing')
    .option('--yes', 'do not ask')
    .addHelpText(
      'after',
      `
Erases the data in the record of the buyer, in its cards, in the transactions that name it or one of its cards, in and deletes
the events (those not yet delivered, too) and the kept answers that show it. The cards become failed and cannot be used again. Nobody is notified.
It cannot be undone. If the command is interrupted, run it again. What is left, and why: docs/guides/personal-data.md`,
    )
    .action(erase);

async function erase(
  text: string,
  { references = false, dryRun = false, yes, json }: Options,
): Promise<void> {
  const id = readUuid(text);
  const notFound = new OperatorFault(`There is no buyer ${text}, neither as a record nor in transactions.`);
  if (id === undefined)
    throw new OperatorFault(
      `${text} is not the ID of a buyer. If it is a reference, see: ${call(`buyers list --merchant-account '*' --search ${shellWord(text)}`)}`,
    );
  if (!dryRun && !yes) await confirm(id);
  const progress = startProgress(`Erasing buyer ${id}`);
  try {
    const done = await withDatabase(
      ({ db }) =>
        withLock(db, `erase buyer ${id}`, () =>
          eraseBuyer(id, {
            db,
            inStep: auditOnce(db),
            references,
            dryRun,
            onProgress: (soFar) => {
              progress.update(`Erasing buyer ${id}: ${listed(soFar)}`);
            },
          }),
        ),
      // Statistics of large tables take minutes.
      { isLong: true },
    );
    if (!done) throw new OperatorFault('This buyer is being erased by another command.');
    if (!done.done) throw notFound;
    conclude(id, done.done, { progress, dryRun, json });
  } catch (error) {
    progress.failed();
    throw error;
  }
}

async function confirm(id: string): Promise<void> {
  if (!process.stdin.isTTY)
    throw new OperatorFault('This cannot be undone. Add --yes, or look first with --dry-run.');
  if (!(await asksYes(`Erase the personal data of buyer ${id}? This cannot be undone.`)))
    throw new OperatorFault('Nothing was erased.');
}

function conclude(
  id: string,
  { found, isDone }: Erasure,
  { progress, dryRun, json }: { progress: Progress; dryRun: boolean; json: boolean | undefined },
): void {
  const isContinued = Object.values(found).every((records) => records === 0);
  const sentence = isDone
    ? `Buyer ${id} is already erased.`
    : isContinued
      ? `Finished what an earlier run had left: buyer ${id} is erased.`
      : `${dryRun ? 'Has personal data' : 'Erased'}: ${listed(found)}.`;
  progress.done(resultText(json, { id, dry_run: dryRun, already_erased: isDone, found }, sentence));
}

const listed = (found: Erasure['found']): string =>
  Object.entries(found)
    .map(([table, records]) => count(records, nounOf(table)))
    .join(', ');

const nounOf = (table: string): string =>
  table === 'payment_methods' ? 'card' : table.replaceAll('_', ' ').replace(/s$/, '');
