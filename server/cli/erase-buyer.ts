// `payments buyers erase`: removes the personal data of one buyer.
import { Command } from 'commander';
import { eraseBuyer, type Erasure } from '../actions/erasure.ts';
import { readUuid } from '../domain/uuid.ts';
import { withLock } from '../store/locks.ts';
import { asksYes } from './input.ts';
import { asResult, call, Refused, resultText, shellWord } from './output.ts';
import { count, startProgress, type Progress } from './progress.ts';
import { auditOnce, withSecrets } from './support.ts';

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
Erases the data in the record of the buyer, in its cards, in the transactions that name it or one of its cards, in events
(those not yet delivered, too) and in kept answers. The cards become failed and cannot be used again. Nobody is notified.
It cannot be undone. If the command is interrupted, run it again. What is left, and why: docs/guides/personal-data.md`,
    )
    .action(erase);

async function erase(
  text: string,
  { references = false, dryRun = false, yes, json }: Options,
): Promise<void> {
  const id = readUuid(text);
  const notFound = new Refused(`There is no buyer ${text}, neither as a record nor in transactions.`);
  if (id === undefined)
    throw new Refused(
      `${text} is not the ID of a buyer. If it is a reference, see: ${call(`buyers list --merchant-account '*' --search ${shellWord(text)}`)}`,
    );
  if (!dryRun && !yes) await confirm(id);
  const progress = startProgress(`Erasing buyer ${id}`);
  try {
    const done = await withSecrets(({ database: { db }, secrets: { vault } }) =>
      withLock(db, `erase buyer ${id}`, () =>
        eraseBuyer(id, {
          db,
          vault,
          inStep: auditOnce(db),
          references,
          dryRun,
          onProgress: (soFar) => {
            progress.update(`Erasing buyer ${id}: ${listed(soFar)}`);
          },
        }),
      ),
    );
    if (!done) throw new Refused('This buyer is being erased by another command.');
    if (!done.done) throw notFound;
    conclude(id, done.done, { progress, dryRun, json });
  } catch (error) {
    progress.failed();
    throw error;
  }
}

async function confirm(id: string): Promise<void> {
  if (!process.stdin.isTTY)
    throw new Refused('This cannot be undone. Add --yes, or look first with --dry-run.');
  if (!(await asksYes(`Erase the personal data of buyer ${id}? This cannot be undone.`)))
    throw new Refused('Nothing was erased.');
}

function conclude(
  id: string,
  found: Erasure,
  { progress, dryRun, json }: { progress: Progress; dryRun: boolean; json: boolean | undefined },
): void {
  const isErased = Object.values(found).every((records) => records === 0);
  const sentence = isErased
    ? `Buyer ${id} is already erased.`
    : `${dryRun ? 'Has personal data' : 'Erased'}: ${listed(found)}.`;
  progress.done(resultText(json, { id, dry_run: dryRun, already_erased: isErased, found }, sentence));
}

const nouns: Record<keyof Erasure, string> = {
  buyers: 'buyer',
  payment_methods: 'card',
  transactions: 'transaction',
  kept_answers: 'kept answer',
  events: 'event',
};

const listed = (found: Erasure): string =>
  Object.entries(nouns)
    .map(([name, noun]) => count(found[name as keyof Erasure], noun))
    .join(', ');
