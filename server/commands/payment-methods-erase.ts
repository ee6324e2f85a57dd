// `payments payment-methods erase`: for requests to delete a card that has no buyer, and for the retention of expired cards.
import { Command } from 'commander';
import { auditOnce, notFound, requireAccount, withService, type Call } from '../cli/service.ts';
import { confirm } from '../kit/cli/input.ts';
import { printResult, withExamples, WrongCall, type JsonOption } from '../kit/cli/output.ts';
import { count, withProgress } from '../kit/cli/progress.ts';
import { ids as collectIds, matching } from '../kit/cli/values.ts';
import { guide } from '../kit/guides.ts';
import { allAccounts } from '../kit/rules/accounts.ts';
import {
  eraseCards,
  hasBegun,
  type CardErasure,
  type ChosenCards,
} from '../resources/erasure/erase-cards.ts';
import { listed } from '../resources/erasure/steps.ts';

const month = matching(/^(0[1-9]|1[0-2])\/\d{2}$/, 'Give MM/YY, such as 01/25.');

export const eraseCommand = (call: Call): Command =>
  withExamples(
    new Command('erase'),
    'payment-methods erase ID ID --dry-run',
    'payment-methods erase --expired-before 01/25 --yes',
  )
    .description('erase cards: their number and all that tells it; counters and transactions stay')
    .argument('[id...]', 'their IDs', collectIds)
    .option('--expired-before <MM/YY>', 'all cards that expired before this month', month)
    .option('--merchant-account <id>', 'with --expired-before: of this account; * is all, the default')
    .option('--dry-run', 'count what would be erased, and change nothing')
    .option('--yes', 'do not ask')
    .addHelpText(
      'after',
      `
Deletes the events that show a card, pending ones too, and the answers kept for an Idempotency-Key. The cards become failed and cannot be
used again. An expired card that waits for its replacement is left to the daily job. No event is sent. This cannot be undone.
If the command is interrupted, run it again. For what is kept, and why, see ${guide('guides/personal-data.md')}`,
    )
    .action((ids: string[] | undefined, options: EraseOptions) => erase(call, ids, options));

interface EraseOptions extends JsonOption {
  expiredBefore?: string;
  merchantAccount?: string;
  dryRun?: boolean;
  yes?: boolean;
}

async function erase(
  call: Call,
  ids: string[] = [],
  { expiredBefore, merchantAccount, dryRun = false, yes, ...output }: EraseOptions,
): Promise<void> {
  if (ids.length > 0 === (expiredBefore !== undefined))
    throw new WrongCall('Give IDs of payment methods, or --expired-before.');
  if (merchantAccount !== undefined && expiredBefore === undefined)
    throw new WrongCall('--merchant-account needs --expired-before.');
  const account = merchantAccount === allAccounts ? undefined : merchantAccount;
  const chosen: ChosenCards =
    expiredBefore === undefined ? { ids: [...new Set(ids)] } : { expiredBefore, account };
  const named =
    'ids' in chosen
      ? count(chosen.ids.length, 'card')
      : `all cards that expired before ${chosen.expiredBefore}`;
  if (!dryRun && !yes) await confirm(`Erase ${named}? This cannot be undone.`);
  const erasure = await withProgress(`Erasing ${named}`, (update) =>
    withService(
      call,
      async ({ db }) => {
        if (expiredBefore !== undefined && !(await hasBegun(db, expiredBefore)))
          throw new WrongCall('--expired-before: cards of the month before are still valid.');
        if (account !== undefined) await requireAccount(db, account);
        const onProgress = (soFar: CardErasure['found']) => {
          update(`Erasing ${named}: ${listed(soFar)}`);
        };
        return eraseCards(chosen, { db, inStep: auditOnce(db, call), dryRun, onProgress });
      },
      // Statistics of large tables take minutes.
      { isLong: true },
    ),
  );
  const { found, alreadyErased, unknown } = erasure;
  if (unknown.length < ids.length || ids.length === 0)
    printResult(
      output,
      { dry_run: dryRun, found, already_erased: alreadyErased, unknown },
      sentenceOf(erasure, dryRun),
    );
  if (unknown.length > 0) throw notFound('payment method', unknown.join(', '), 'payment-methods list');
}

function sentenceOf({ found, alreadyErased, isContinued }: CardErasure, dryRun: boolean): string {
  const isFound = Object.values(found).some((records) => records > 0);
  const sentences = [
    isFound && `${dryRun ? 'Would be erased' : 'Erased'}: ${listed(found)}.`,
    isContinued && 'Finished what an earlier run had left.',
    alreadyErased.length > 0 && `Already erased: ${alreadyErased.join(', ')}.`,
  ].filter(Boolean);
  return sentences.length > 0 ? sentences.join(' ') : 'There is nothing to erase.';
}
