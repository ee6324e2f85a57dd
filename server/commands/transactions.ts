import { Argument, Command, Option } from 'commander';
import { parseJson } from '../../client/json.ts';
import { notFound, readAccounts, withPublishedChange, withService, type Call } from '../cli/service.ts';
import { noneIn, printJson, printRows, withExamples, WrongCall, type JsonOption } from '../kit/cli/output.ts';
import { matching, time, uuid, whole } from '../kit/cli/values.ts';
import { OperatorFault } from '../kit/faults.ts';
import { shellWord } from '../kit/installation.ts';
import { cursorBinding, pageCursors } from '../kit/rules/cursor.ts';
import { isUuid } from '../kit/rules/values.ts';
import { replacingDeclines } from '../resources/payment-methods/rules.ts';
import { findTransactionOfAnyAccount } from '../resources/transactions/any-account.ts';
import { moveTransaction } from '../resources/transactions/changes.ts';
import type { TransactionFilters } from '../resources/transactions/filters.ts';
import { listTransactionPage } from '../resources/transactions/list.ts';
import { canonicalFilter } from '../resources/transactions/metadata-filter.ts';
import { amountText, transactionMoves, type TransactionStatus } from '../resources/transactions/rules.ts';
import { presentTransaction, type Transaction } from '../resources/transactions/table.ts';
import { historyOption, printHistory } from './history.ts';

const noTransaction = (id: string) => notFound('transaction', id, 'transactions list');

export function makeCommand(call: Call): Command {
  const command = new Command('transactions').addCommand(listCommand(call));
  command
    .command('show')
    .argument('<id>', 'its ID', uuid)
    .description('print a transaction as JSON, as the API shows it')
    .option(...historyOption)
    .action(async (id: string, { history = false, ...output }: ShowOptions) => {
      if (history) return printHistory(call, id, output, findTransactionOfAnyAccount, noTransaction);
      const found = await withService(call, ({ db }) => findTransactionOfAnyAccount(db, id));
      if (!found) throw noTransaction(id);
      printJson(presentTransaction(found));
    });
  withExamples(
    command.command('move'),
    'transactions move ID authorization_declined --reason expired_payment_method',
  )
    .description('move a transaction to another status')
    .argument('<id>', 'its ID', uuid)
    .addArgument(new Argument('<status>', 'the new status').choices(Object.keys(transactionMoves)))
    .option(
      '--reason <code>',
      'why it was declined or failed',
      matching(
        /^[a-z0-9_]{1,64}$/,
        'A reason has lower-case letters, digits and underscores: expired_payment_method',
      ),
    )
    .addHelpText(
      'after',
      `
A decline with one of these reasons applies a pending replacement of the card:
  ${replacingDeclines.join('\n  ')}`,
    )
    .action(async (id: string, status: TransactionStatus, { reason }: { reason?: string }) => {
      if (reason !== undefined && !/_(declined|failed)$/.test(status))
        throw new WrongCall(
          `--reason says why a transaction was declined or failed, not why it is ${status}.`,
        );
      const moved = await withPublishedChange(call, async (unit) => {
        const result = await moveTransaction(unit, id, status, reason);
        if (!result) throw noTransaction(id);
        if (result.kind === 'illegal') throw new OperatorFault(result.reason);
        await unit.audit({ about: id });
        return result.row;
      });
      printJson({ id: moved.id, status: moved.status });
    });
  return command;
}

interface ShowOptions extends JsonOption {
  history?: boolean;
}

interface ListOptions extends JsonOption {
  merchantAccount: string;
  status?: TransactionStatus[];
  buyer?: string;
  search?: string;
  since?: Date;
  until?: Date;
  limit: number;
  cursor?: string;
}

const listCommand = (call: Call): Command =>
  withExamples(
    new Command('list'),
    'transactions list --status authorization_declined authorization_failed --since 24h',
    "transactions list --merchant-account '*' --buyer buyer-42 --json",
  )
    .description('list transactions, newest first')
    .option('--merchant-account <id>', 'account; * is all', 'default')
    .addOption(
      new Option('--status <status...>', 'with one of these statuses').choices(Object.keys(transactionMoves)),
    )
    .option('--buyer <id>', "of this buyer: its ID, or the merchant's reference")
    .option('--search <text>', 'find by ID or reference, of the transaction or its buyer')
    .option('--since <time>', 'created at this time or later', time)
    .option('--until <time>', 'created at this time or earlier', time)
    .option('--limit <number>', 'how many', whole(1, 1000), 20)
    .option('--cursor <cursor>', 'of the next page, as printed below a page')
    .action((options: ListOptions) => listAll(call, options));

async function listAll(call: Call, options: ListOptions): Promise<void> {
  const { merchantAccount, limit, cursor: start, json } = options;
  const filters = filtersOf(options);
  const boundTo = cursorBinding('payments transactions list', merchantAccount, filters, canonicalFilter);
  const { items, cursors, hasMore } = await withService(call, async ({ db, secrets }) => {
    const accounts = await readAccounts(db, merchantAccount);
    const cursor = start === undefined ? undefined : secrets.cursors.decode(start, boundTo);
    if (start !== undefined && !cursor)
      throw new OperatorFault(
        '--cursor is incomplete, or of a list with another account or other filters. Copy it whole and repeat the options of its page, or start again without it.',
      );
    const { rows, ...around } = await listTransactionPage(db, accounts, filters, { limit, cursor });
    return {
      items: rows.map((row) => parseJson(row.json.toString()) as Transaction),
      // A page can be shown without CURSOR_KEY, but not the way to the next one.
      cursors: secrets.missing.includes('CURSOR_KEY')
        ? undefined
        : pageCursors(secrets.cursors, around, boundTo),
      hasMore: around.next !== undefined,
    };
  });
  if (json) {
    printJson({ items, limit, ...cursors });
    return;
  }
  const shown = items.map((one) => ({
    id: one.id,
    status: one.status,
    amount: amountText(one.amount, one.currency),
    created_at: new Date(one.created_at),
    account: one.merchant_account_id,
    method: one.payment_method?.label ?? one.method,
    buyer: one.buyer?.external_identifier ?? one.buyer?.id,
    external_identifier: one.external_identifier,
  }));
  printRows(shown, {}, noneIn('transaction', merchantAccount));
  // Not on standard output, which has the table only.
  if (!hasMore) return;
  const next = cursors?.next_cursor;
  console.error(
    next
      ? `\nNext page: payments ${withCursor(call, next)}`
      : '\nThere are more. For the next page, set CURSOR_KEY (or CURSOR_KEY_FILE).',
  );
}

const filtersOf = ({ status, buyer, search, since, until }: ListOptions): TransactionFilters => ({
  ...(status && { status }),
  ...(buyer !== undefined && (isUuid(buyer) ? { buyer_id: buyer } : { buyer_external_identifier: buyer })),
  ...(search !== undefined && { search }),
  ...(since && { created_at_gte: since.toISOString() }),
  ...(until && { created_at_lte: until.toISOString() }),
});

function withCursor({ args }: Call, cursor: string): string {
  const before = args.filter((word, at) => !/^--cursor(=|$)/.test(word) && args[at - 1] !== '--cursor');
  return [...before, '--cursor', cursor].map(shellWord).join(' ');
}
