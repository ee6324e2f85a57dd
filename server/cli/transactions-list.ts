// `payments transactions list`: the pages of GET /transactions, for operators.
import { Command, Option } from 'commander';
import { readCallName } from '../config.ts';
import { cursorBinding, pageCursors } from '../domain/cursor.ts';
import { transactionMoves, type TransactionStatus } from '../domain/state-machine.ts';
import { isUuid } from '../domain/uuid.ts';
import { presentTransaction } from '../present/transaction.ts';
import type { TransactionFilters } from '../store/transaction-filters.ts';
import { listTransactionPage } from '../store/transaction-list.ts';
import { printJson, printRows, Refused, shellWord } from './output.ts';
import { requireAccount, withSecrets } from './support.ts';
import { limit, time } from './values.ts';

interface Options {
  merchantAccount: string;
  status?: TransactionStatus[];
  buyer?: string;
  search?: string;
  since?: Date;
  until?: Date;
  limit: number;
  cursor?: string;
  json?: boolean;
}

export const listCommand = (): Command =>
  new Command('list')
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
    .option('--json', 'for programs: items and cursors, as the API answers them')
    .addHelpText(
      'after',
      `
Examples:
  payments transactions list --status authorization_declined authorization_failed --since 2026-11-01
  payments transactions list --merchant-account '*' --buyer buyer-42 --json`,
    )
    .action(run);

async function run({
  merchantAccount,
  limit: most,
  cursor: given,
  json,
  ...options
}: Options): Promise<void> {
  const filters = filtersOf(options);
  const boundTo = cursorBinding('payments transactions list', merchantAccount, filters);
  const { items, next_cursor, previous_cursor } = await withSecrets(
    async ({ database: { db, isSharded }, secrets }) => {
      const accounts = merchantAccount === '*' ? undefined : [await requireAccount(db, merchantAccount)];
      const cursor = given === undefined ? undefined : secrets.cursors.decode(given, boundTo);
      if (given !== undefined && !cursor)
        throw new Refused('--cursor is of a list with other filters. Start again without it.');
      const { rows, ...around } = await listTransactionPage(db, accounts, filters, {
        limit: most,
        cursor,
        isSharded,
      });
      return { items: rows.map(presentTransaction), ...pageCursors(secrets.cursors, around, boundTo) };
    },
  );
  if (json) {
    printJson({ items, limit: most, next_cursor, previous_cursor });
    return;
  }
  const shown = items.map((one) => ({
    id: one.id,
    status: one.status,
    amount: one.amount,
    currency: one.currency,
    method: one.payment_method?.label ?? one.method,
    buyer: one.buyer?.external_identifier ?? one.buyer?.id,
    external_identifier: one.external_identifier,
    created_at: one.created_at,
  }));
  printRows(shown, false, 'There is no such transaction.');
  // Not on standard output, which has the table only.
  if (next_cursor !== null) console.error(`\nNext page: ${readCallName()} ${commandLine(next_cursor)}`);
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
