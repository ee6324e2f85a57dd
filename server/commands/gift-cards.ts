import { Command } from 'commander';
import { auditOnce, notFound, requireAccount, withService, type Call } from '../cli/service.ts';
import { confirm, readSecretLine } from '../kit/cli/input.ts';
import { pick, printJson, printResult, printRows, withExamples, type JsonOption } from '../kit/cli/output.ts';
import { count } from '../kit/cli/progress.ts';
import { ids as collectIds, whole } from '../kit/cli/values.ts';
import { OperatorFault } from '../kit/faults.ts';
import { eraseGiftCards } from '../resources/erasure/erase-gift-cards.ts';
import { listed } from '../resources/erasure/steps.ts';
import { createGiftCard } from '../resources/gift-cards/changes.ts';
import { listGiftCards } from '../resources/gift-cards/queries.ts';
import { giftCardBin } from '../resources/gift-cards/rules.ts';

interface ListOptions extends JsonOption {
  merchantAccount: string;
  limit: number;
}

export function makeCommand(call: Call): Command {
  const command = new Command('gift-cards');
  command
    .command('list')
    .description('list the stored gift cards of a merchant account, newest first')
    .option('--merchant-account <id>', 'account', 'default')
    .option('--limit <number>', 'how many', whole(1, 10_000), 50)
    .action(async ({ merchantAccount, limit: most, ...output }: ListOptions) => {
      const rows = await withService(call, async ({ db }) =>
        listGiftCards(db, await requireAccount(db, merchantAccount), most),
      );
      const shown = pick(rows, 'id', 'bin', 'sub_bin', 'last4', 'created_at');
      printRows(shown, output, `There is no stored gift card. Make one: payments gift-cards create`);
    });
  command
    .command('create')
    .description(
      'store a gift card; number and PIN are read from standard input, separated by a space, and never from arguments',
    )
    .addHelpText('after', () => `\nExample:\n  echo '9999000125505678 1111' | payments gift-cards create`)
    .option('--merchant-account <id>', 'account', 'default')
    .action(async ({ merchantAccount }: { merchantAccount: string }) => {
      const [number = '', pin = ''] = (await readSecretLine('Number and PIN')).split(/\s+/, 2);
      if (!/^[0-9]{16,19}$/.test(number) || pin.length < 1)
        throw new OperatorFault('Give a number of 16 to 19 digits, a space, and the PIN.');
      const made = await withService(
        call,
        ({ change, secrets: { vault } }) =>
          change(async (unit) => {
            const merchant_account_id = await requireAccount(unit.db, merchantAccount);
            const card = await createGiftCard(unit, { merchant_account_id, number, pin }, vault);
            if (card.kind === 'taken') throw new Error('The ID of a new gift card is taken.');
            await unit.audit({ about: card.row.id });
            return card.row;
          }),
        { creates: true },
      );
      printJson({ id: made.id, merchant_account_id: merchantAccount, ...giftCardBin(number) });
    });
  withExamples(command.command('erase'), 'gift-cards erase ID ID --dry-run')
    .description('delete stored gift cards; what transactions say of them stays')
    .argument('<id...>', 'their IDs', collectIds)
    .option('--dry-run', 'count what would be erased, and change nothing')
    .option('--yes', 'do not ask')
    .addHelpText(
      'after',
      '\nA balance request with such an ID then has balance_error_code invalid_gift_card.',
    )
    .action((ids: string[], options: EraseOptions) => erase(call, ids, options));
  return command;
}

interface EraseOptions extends JsonOption {
  dryRun?: boolean;
  yes?: boolean;
}

async function erase(
  call: Call,
  given: string[],
  { dryRun = false, yes, ...output }: EraseOptions,
): Promise<void> {
  const ids = [...new Set(given)];
  if (!dryRun && !yes) await confirm(`Erase ${count(ids.length, 'gift card')}? This cannot be undone.`);
  const { found, unknown } = await withService(
    call,
    ({ db }) => eraseGiftCards(ids, { db, inStep: auditOnce(db, call), dryRun, onProgress: () => undefined }),
    { isLong: true },
  );
  if (unknown.length < ids.length)
    printResult(
      output,
      { dry_run: dryRun, found, unknown },
      Object.keys(found).length > 0
        ? `${dryRun ? 'Would be erased' : 'Erased'}: ${listed(found)}.`
        : 'Finished what an earlier run had left.',
    );
  if (unknown.length > 0) throw notFound('gift card', unknown.join(', '), 'gift-cards list');
}
