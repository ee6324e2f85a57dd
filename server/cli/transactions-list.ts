// `payments transactions list`: the pages of GET /transactions, for operators.
import { Command, Option } from 'commander';
import { parseJson } from '../../client/json.ts';
import { amountText } from '../resources/transactions/rules.ts';
import { cursorBinding, pageCursors } from '../rules/cursor.ts';
import { transactionMoves, type TransactionStatus } from '../rules/state-machine.ts';
import { isUuid } from '../rules/uuid.ts';
import type { TransactionFilters } from '../resources/transactions/filters.ts';
import type { Transaction } from '../resources/transactions/table.ts';
import { listTransactionPage } from '../resources/transactions/list.ts';
import { OperatorFault } from '../operator-fault.ts';
import { asList, call, noneIn, printJson, printRows, shellWord, type ListOutput } from './output.ts';
import { requireAccount, withSecrets } from './support.ts';
import { limit, time } from './values.ts';

interface Options extends ListOutput {
  merchantAccount: string;
  status?: TransactionStatus[];
  buyer?: string;
  search?: string;
  since?: Date;
  until?: Date;
  limit: number;
  cursor?: string;
}

export const listCommand = (): Command =>
  asList(new Command('list'))
    .description('list transactions, newest first')
    .option('--merchant-account <id>', 'account; * is all', 'default')
    .addOption(
      new Option('--status <status...>', 'with one of these statuses').choices(Object.keys(transactionMoves)),
    )
    .option('--buyer <id>', "of this buyer: its ID, or the merchant's reference")
    .option('--search <text>', 'whose ID or reference, or that of the buyer, is this')
    .option('--since <time>', 'created at this time or later', time('--since'))
    .option('--until <time>', 'created at this time or earlier', time('--until'))
    .option('--limit <number>', 'how many', limit(1000), 20)
    .option('--cursor <cursor>', 'of the next page, as printed below a page')
    .action(run);

async function run({
  merchantAccount,
  limit: most,
  cursor: given,
  json,
  wide,
  ...options
}: Options): Promise<void> {
  const filters = filtersOf(options);
  const boundTo = cursorBinding('payments transactions list', merchantAccount, filters);
  const { items, cursors, hasMore } = await withSecrets(
    async ({ database: { db, isSharded }, secrets }) => {
      const accounts = merchantAccount === '*' ? undefined : [await requireAccount(db, merchantAccount)];
      const cursor = given === undefined ? undefined : secrets.cursors.decode(given, boundTo);
      if (given !== undefined && !cursor)
        throw new OperatorFault(
          '--cursor is incomplete, or of a list with another account or other filters. Copy it whole and repeat the options of its page, or start again without it.',
        );
      const { rows, ...around } = await listTransactionPage(db, accounts, filters, {
        limit: most,
        cursor,
        isSharded,
      });
      return {
        items: rows.map(({ json: text }) => parseJson(text) as Transaction),
        // A page can be shown without CURSOR_KEY, but not the way to the next one.
        cursors: secrets.missing.includes('CURSOR_KEY')
          ? undefined
          : pageCursors(secrets.cursors, around, boundTo),
        hasMore: around.next !== undefined,
      };
    },
    { creates: false },
  );
  if (json) {
    printJson({ items, limit: most, ...cursors });
    return;
  }
  const shown = items.map((one) => ({
    id: one.id,
    status: one.status,
    amount: amountText(one.amount, one.currency),
    created_at: new Date(one.created_at),
    ...(merchantAccount === '*' && { account: one.merchant_account_id }),
    method: one.payment_method?.label ?? one.method,
    buyer: one.buyer?.external_identifier ?? one.buyer?.id,
    external_identifier: one.external_identifier,
  }));
  printRows(
    shown,
    { wide },
    {
      whenEmpty: noneIn('transaction', merchantAccount),
      // Leaves the time out before it cuts the status, because several statuses begin alike.
      least: ['method', 'buyer', 'external_identifier', 'created_at'],
    },
  );
  // Not on standard output, which has the table only.
  if (!hasMore) return;
  const next = cursors?.next_cursor;
  console.error(
    next ? `\nNext page: ${call(commandLine(next))}` : '\nThere are more. For the next page, set CURSOR_KEY.',
  );
}

const filtersOf = ({
  status,
  buyer,
  search,
  since,
  until,
}: Omit<Options, 'merchantAccount' | 'limit'>): TransactionFilters => ({
  ...(status && { status }),
  ...(buyer !== undefined && (isUuid(buyer) ? { buyer_id: buyer } : { buyer_external_identifier: buyer })),
  ...(search !== undefined && { search }),
  ...(since && { created_at_gte: since.toISOString() }),
  ...(until && { created_at_lte: until.toISOString() }),
});

/** The same call with another cursor. */
function commandLine(cursor: string): string {
  const args = process.argv.slice(2);
  const before = args.filter((word, at) => !/^--cursor(=|$)/.test(word) && args[at - 1] !== '--cursor');
  return [...before, '--cursor', cursor].map(shellWord).join(' ');
}
