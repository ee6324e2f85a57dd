// `payments import transactions FILE|-`: streams a file with one JSON object per line, and imports all of it or nothing.
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Command } from 'commander';
import { beginImport, type Import } from '../actions/transactions.ts';
import { silently } from '../actions/unit-of-work.ts';
import { listAccounts } from '../store/merchant-accounts.ts';
import type { NewTransaction } from '../store/transactions.ts';
import { createLineCheck, type LineCheck } from './import-check.ts';
import { readBatches, type Line } from './import-lines.ts';
import { count, startProgress } from './progress.ts';
import { visible } from '../visible.ts';
import { Refused } from './output.ts';
import { withEvents, type EventParts } from './support.ts';

const mostBadLines = 20;

/** Every property that the contract requires. */
const sampleLine = {
  type: 'transaction',
  id: '7099948d-7286-47e4-aad8-b68f7eb44591',
  merchant_account_id: 'default',
  status: 'capture_succeeded',
  intent: 'capture',
  amount: 1299,
  authorized_amount: 1299,
  captured_amount: 1299,
  refunded_amount: 0,
  currency: 'EUR',
  country: 'DE',
  external_identifier: 'order-4711',
  method: null,
  instrument_type: null,
  payment_method: null,
  payment_service: null,
  buyer: null,
  checkout_session_id: null,
  gift_card_redemptions: [],
  pending_review: false,
  raw_response_code: null,
  raw_response_description: null,
  reconciliation_id: null,
  settled: false,
  settled_amount: 0,
  settled_currency: null,
  created_at: '2026-11-15T10:30:00Z',
  updated_at: '2026-11-15T10:30:00Z',
};

export function importCommand(): Command {
  const command = new Command('import');
  command
    .command('transactions <file>')
    .description('import transactions, one JSON object per line; - reads standard input')
    .option('--skip-bad', 'leave bad lines out and keep the rest')
    .option('--events', 'send a webhook event for each transaction')
    .addHelpText(
      'after',
      `
Each line is a Transaction resource. It may also have metadata (object of strings), payment_source, merchant_initiated,
is_subsequent_payment and payment_service_transaction_id. Every line is checked against the contract. A bad line is
reported with its number and the reason, and nothing is imported unless --skip-bad is given. Ctrl-C leaves nothing
behind. A line with a card number in metadata or raw_response_description is bad, because both are stored as text. Amounts
are taken as they are, also a captured amount above the authorised one. A decline that is later than a replacement found for its card applies that replacement. No webhook event is
sent unless --events is given.

A line:
  ${JSON.stringify(sampleLine)}`,
    )
    .action(run);
  return command;
}

interface BadLine {
  line: number;
  reason: string;
}

/** Keeps only the first ones and the total, because there may be a million. */
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
  let imported = 0;
  try {
    const importAll = ({ inUnitOfWork }: EventParts) =>
      inUnitOfWork(async (unit) => {
        const accounts = await listAccounts(unit.db);
        const check = createLineCheck(new Set(accounts.map(({ id }) => id)));
        const begun = await beginImport(events ? unit : silently(unit, 'imported without --events'));
        const store = async (good: GoodLine[]) => {
          imported += await storeLines(begun, good, bad);
        };
        // The next lines are read and checked while the database stores these.
        let storing = Promise.resolve();
        for await (const { lines, read } of readBatches(input)) {
          const good = checkLines(lines, check, bad);
          await storing;
          storing = store(good);
          storing.catch(() => undefined);
          const share = found ? ` (${Math.round((100 * read) / Math.max(found.size, 1))} %)` : '';
          progress.update(`Importing: ${count(imported, 'transaction')}${share}`);
          // A file with unreadable lines may be binary, or endless like /dev/zero.
          const isUnreadable = lines.some((line) => 'fault' in line);
          if (!skipBad && (isUnreadable || bad.total >= mostBadLines)) break;
        }
        await storing;
        if (bad.total > 0 && !skipBad)
          throw new Refused(
            `${report(bad)}\nNothing was imported. Fix these lines, or leave them out with --skip-bad.`,
          );
        await begun.finish();
        return true;
      });
    await withEvents(importAll, { isRepeatable: false });
  } catch (error) {
    progress.failed();
    throw error;
  } finally {
    // Otherwise the process waits until the writer of standard input ends, which may be never.
    input.destroy();
  }
  if (bad.total > 0) console.error(report(bad));
  progress.done(
    `Imported ${count(imported, 'transaction')}${bad.total > 0 ? `, left ${count(bad.total, 'bad line')} out` : ''}.`,
  );
}

interface GoodLine {
  line: number;
  row: NewTransaction;
}

/** Returns the valid lines; adds the others to `bad`. */
function checkLines(lines: Line[], check: LineCheck, bad: BadLines): GoodLine[] {
  const good: GoodLine[] = [];
  for (const line of lines) {
    const checked = check(line);
    if (typeof checked === 'string') note(bad, line.line, checked);
    else good.push({ line: line.line, row: checked });
  }
  return good;
}

/** Returns how many were stored. */
async function storeLines(begun: Import, good: GoodLine[], bad: BadLines): Promise<number> {
  const refused = await begun.create(good.map(({ row }) => row));
  for (const { index, isRepeated } of refused) {
    const { line, row } = good[index] as GoodLine;
    note(bad, line, isRepeated ? `id ${row.id} is used by an earlier line` : `id ${row.id} exists already`);
  }
  return good.length - refused.length;
}

function note(bad: BadLines, line: number, reason: string): void {
  bad.total += 1;
  if (bad.first.length < 2 * mostBadLines) bad.first.push({ line, reason });
}

function report({ total, first }: BadLines): string {
  const shown = first
    .sort((a, b) => a.line - b.line)
    .slice(0, mostBadLines)
    .map(({ line, reason }) => `line ${line}: ${visible(reason)}`);
  if (total > mostBadLines) shown.push(`… and ${count(total - mostBadLines)} more`);
  return shown.join('\n');
}
