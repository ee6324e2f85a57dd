// `payments import transactions FILE|-`: one JSON object a line, streamed; all of the file or nothing of it.
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Command } from 'commander';
import type { Announce } from '../events.ts';
import type { Db } from '../store/database.ts';
import { beginBulk, type Bulk } from '../store/transaction-moves.ts';
import { findTransaction, present, type NewTransaction } from '../store/transactions.ts';
import { createLineCheck, type LineCheck } from './import-check.ts';
import { readBatches, type Line } from './import-lines.ts';
import { count, startProgress } from './progress.ts';
import { Refused } from './output.ts';
import { withEvents } from './events.ts';

const mostBadLines = 20;

export function importCommand(): Command {
  const command = new Command('import').description('bring records from elsewhere');
  command
    .command('transactions <file>')
    .description('import transactions, one JSON object a line; - reads standard input')
    .option('--skip-bad', 'leave bad lines out and keep the rest')
    .option('--events', 'tell webhook subscribers of each transaction')
    .addHelpText(
      'after',
      `
Each line is the Transaction resource, and may have besides: metadata (object of strings), payment_source,
merchant_initiated, is_subsequent_payment, payment_service_transaction_id. Every line is checked against the contract; a
bad one is named by its number and reason, and nothing of the file is kept unless --skip-bad is given. Ctrl-C leaves
nothing behind. No webhook is sent unless --events is given.`,
    )
    .action(run);
  return command;
}

interface BadLine {
  line: number;
  reason: string;
}

/** The first of them; of the others only the number, for there may be a million. */
interface BadLines {
  total: number;
  first: BadLine[];
}

interface Options {
  skipBad?: boolean;
  events?: boolean;
}

async function run(file: string, { skipBad = false, events = false }: Options): Promise<void> {
  const found = file === '-' ? undefined : await stat(file).catch(() => undefined);
  if (file !== '-' && (!found || found.isDirectory())) throw new Refused(`${file} cannot be read.`);
  const input = file === '-' ? process.stdin : createReadStream(file);
  const progress = startProgress('Importing');
  const bad: BadLines = { total: 0, first: [] };
  let kept = 0;
  try {
    await withEvents(({ database, announce }) =>
      database.db.transaction().execute(async (transaction) => {
        const accounts = await transaction.selectFrom('merchant_accounts').select('id').execute();
        const check = createLineCheck(new Set(accounts.map(({ id }) => id)));
        const bulk = await beginBulk(transaction);
        const store = async (good: Good[]) => {
          const stored = await keep(bulk, good, bad);
          kept += stored.length;
          if (events) await announceAll(transaction, stored, announce);
        };
        // The next lines are read and checked while the database stores these.
        let storing = Promise.resolve();
        for await (const { lines, read } of readBatches(input)) {
          const good = sift(lines, check, bad);
          await storing;
          storing = store(good);
          storing.catch(() => undefined);
          const share = found ? ` (${Math.round((100 * read) / Math.max(found.size, 1))} %)` : '';
          progress.say(`Importing: ${count(kept, 'transaction')}${share}`);
          // Of what cannot even be read there may be no end.
          const isUnreadable = lines.some((line) => 'fault' in line);
          if (!skipBad && (isUnreadable || bad.total >= mostBadLines)) break;
        }
        await storing;
        if (bad.total > 0 && !skipBad)
          throw new Refused(
            `${report(bad)}\nNothing was imported. Mend the lines, or leave them out with --skip-bad.`,
          );
        await bulk.finish();
      }),
    );
  } catch (error) {
    progress.failed();
    throw error;
  } finally {
    // Whoever writes to us may go on for ever.
    input.destroy();
  }
  if (bad.total > 0) console.error(report(bad));
  progress.done(
    `Imported ${count(kept, 'transaction')}${bad.total > 0 ? `, left ${count(bad.total, 'bad line')} out` : ''}.`,
  );
}

async function announceAll(db: Db, rows: NewTransaction[], announce: Announce): Promise<void> {
  for (const { id } of rows) {
    const row = await findTransaction(db, id);
    if (row) await announce.transaction(db, 'created', present(row));
  }
}

interface Good {
  line: number;
  row: NewTransaction;
}

function sift(lines: Line[], check: LineCheck, bad: BadLines): Good[] {
  const good: Good[] = [];
  for (const line of lines) {
    const checked = check(line);
    if (typeof checked === 'string') note(bad, line.line, checked);
    else good.push({ line: line.line, row: checked });
  }
  return good;
}

async function keep(bulk: Bulk, good: Good[], bad: BadLines): Promise<NewTransaction[]> {
  const refused = await bulk.create(good.map(({ row }) => row));
  for (const { index, isOwn } of refused) {
    const { line, row } = good[index] as Good;
    note(bad, line, isOwn ? `id ${row.id} is that of an earlier line` : `id ${row.id} exists already`);
  }
  const left = new Set(refused.map(({ index }) => index));
  return good.filter((_, index) => !left.has(index)).map(({ row }) => row);
}

function note(bad: BadLines, line: number, reason: string): void {
  bad.total += 1;
  if (bad.first.length < 2 * mostBadLines) bad.first.push({ line, reason });
}

function report({ total, first }: BadLines): string {
  const shown = first
    .sort((a, b) => a.line - b.line)
    .slice(0, mostBadLines)
    .map(({ line, reason }) => `line ${line}: ${reason}`);
  if (total > mostBadLines) shown.push(`… and ${count(total - mostBadLines)} more`);
  return shown.join('\n');
}
