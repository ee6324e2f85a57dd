// `payments import transactions FILE|-`: streams a file with one JSON object per line, and imports all of it or nothing. It is
// read and checked by import-check.ts, and stored here.
import { createReadStream, type ReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Command } from 'commander';
import { exampleTarget, withService, type Call } from '../cli/service.ts';
import { listAccounts } from '../kit/access/accounts/queries.ts';
import { printJson, printResult, type JsonOption } from '../kit/cli/output.ts';
import { count, withProgress } from '../kit/cli/progress.ts';
import { silently, type AuditedChange, type UnitOfWork } from '../kit/database/unit-of-work.ts';
import { codeOf, OperatorFault } from '../kit/faults.ts';
import { visible } from '../kit/log/visible.ts';
import { inSlices } from '../kit/rules/async.ts';
import { importTransactions, type Batch } from '../resources/transactions/changes.ts';
import type { NewTransaction } from '../resources/transactions/queries.ts';
import {
  collectBadLines,
  createLineCheck,
  mostShown,
  readLines,
  type BadLines,
  type LineCheck,
  type Line,
} from './import-check.ts';

export function makeCommand(call: Call): Command {
  const command = new Command('import');
  command
    .command('transactions <file>')
    .description('import transactions, one JSON object per line; - reads standard input')
    .option('--skip-bad', 'leave bad lines out and keep the rest')
    .option(
      '--bad <file>',
      'write every bad line with its number and the reason to this new file, as JSON lines; card numbers are masked',
    )
    .option('--dry-run', 'read and check everything, also whether IDs exist already, and import nothing')
    .option('--events', 'send a webhook event for each transaction')
    .addHelpText(
      'after',
      () => `
Each line is a Transaction, as \`payments transactions list --json\` prints it. Fields that may be null may be left out. These may be
added: metadata (object of strings), payment_source, merchant_initiated, is_subsequent_payment, payment_service_transaction_id.

- Every line is checked against the contract. Bad lines are printed with number and reason, and then nothing is imported.
- With --skip-bad the other lines are imported, and the exit code is 0.
- Without --skip-bad, --bad and --dry-run, the command stops soon after 20 bad lines.
- Card numbers in metadata or raw_response_description make a line bad: both are stored as text.
- Amounts are not checked against each other.
- A decline applies the replacement of its card, if that was found before the decline.
- Ctrl-C leaves nothing behind.

Example of a line, from the contract:
  ${JSON.stringify(exampleTarget('transaction.created'))}`,
    )
    .action((file: string, options: Options) => run(call, file, options));
  return command;
}

interface Options extends JsonOption {
  skipBad?: boolean;
  bad?: string;
  dryRun?: boolean;
  events?: boolean;
}

class DryRun extends Error {}

const uniqueViolation = '23505';

async function run(call: Call, file: string, options: Options): Promise<void> {
  const { dryRun = false } = options;
  const size = file === '-' ? undefined : await sizeOf(file);
  const bad = collectBadLines(options.bad);
  const input = file === '-' ? process.stdin : createReadStream(file);
  // Whoever reads gets the error; without a listener it would also end the process.
  input.on('error', () => undefined);
  const seen: Seen = { good: 0, bad, stoppedAfter: undefined };
  const result = (imported: number) => ({
    dry_run: dryRun,
    good_lines: seen.good,
    bad_lines: bad.total,
    existing_lines: bad.existing,
    imported,
    reasons: bad.reasons(),
    errors: bad.shown(),
  });
  try {
    await importAll(call, input, size, seen, options);
  } catch (error) {
    const fault = codeOf(error) === uniqueViolation ? storedMeanwhile(error) : error;
    if (options.json && fault instanceof OperatorFault) printJson(result(0));
    if (!(fault instanceof DryRun)) throw fault;
  } finally {
    // Otherwise the process waits until the writer of standard input ends, which may be never.
    input.destroy();
    bad.close();
  }
  if (bad.total > 0) console.error(reportOf(bad));
  else if (seen.good === 0)
    console.error(
      `${file === '-' ? 'Standard input' : file} has no lines. If it should have some, check what writes it.`,
    );
  const leftOut = bad.total > 0 ? `, left ${count(bad.total, 'bad line')} out${ofExisting(bad)}` : '';
  const sentence = dryRun
    ? `Checked ${count(seen.good, 'transaction')}${leftOut}. Nothing was imported (--dry-run).`
    : `Imported ${count(seen.good, 'transaction')}${leftOut}.`;
  printResult(options, result(dryRun ? 0 : seen.good), sentence);
}

async function importAll(
  call: Call,
  input: typeof process.stdin | ReadStream,
  size: number | undefined,
  seen: Seen,
  { skipBad = false, dryRun = false, events = false, bad }: Options,
): Promise<void> {
  const readsAll = skipBad || dryRun || bad !== undefined;
  const begin = (update: (text: string) => void, interruption: AbortSignal) => {
    interruption.addEventListener('abort', () => input.destroy(interruption.reason as Error));
    const onStored = () => {
      const share = size ? ` (${Math.round((100 * input.bytesRead) / size)} %)` : '';
      update(`Importing: ${count(seen.good, 'transaction')}${share}`);
    };
    const change = async (unit: UnitOfWork & AuditedChange) => {
      const accounts = await listAccounts(unit.db);
      const check = createLineCheck(new Set(accounts.map(({ id }) => id)));
      await importTransactions(unit, checkedBatches(input, check, seen, { readsAll, onStored }));
      if (seen.bad.total > 0 && !skipBad) throw new OperatorFault(refusal(seen));
      if (dryRun) throw new DryRun();
      // It may have come after the last line was read.
      interruption.throwIfAborted();
      await unit.audit({});
    };
    const longOnce = { creates: true, isLong: true, isRepeatable: false };
    return withService(
      call,
      (service) =>
        events
          ? service.changeWithEvents(change)
          : service.change((unit) => change({ ...unit, ...silently(unit, 'imported without --events') })),
      longOnce,
    );
  };
  await withProgress('Importing', begin, 'Interrupted; nothing was imported.');
}

async function sizeOf(file: string): Promise<number> {
  const found = await stat(file).catch((error: unknown) => {
    const code = codeOf(error);
    throw new OperatorFault(
      code === 'ENOENT'
        ? `There is no file ${file}. Check the path, or read standard input with -`
        : `${file} cannot be read (${code}).`,
    );
  });
  if (found.isDirectory()) throw new OperatorFault(`${file} is a folder. Name one file.`);
  return found.size;
}

interface Seen {
  good: number;
  bad: BadLines;
  /** The last line that was read, if there may be more. */
  stoppedAfter: number | undefined;
}

/** Without `readsAll` it stops soon after as many bad lines as a report has. */
async function* checkedBatches(
  input: AsyncIterable<unknown>,
  check: LineCheck,
  seen: Seen,
  { readsAll, onStored }: { readsAll: boolean; onStored: () => void },
): AsyncGenerator<Batch> {
  let last = 0;
  /** Some of them wait to be noted until the database has said which others are bad, to keep the order of the file. */
  let found = 0;
  for await (const lines of readLines(input)) {
    if (!readsAll && found >= mostShown) {
      seen.stoppedAfter = last;
      return;
    }
    last = lines.at(-1)?.number ?? last;
    const rows: NewTransaction[] = [];
    const good: { line: Line; id: string }[] = [];
    const bad: { line: Line; reason: string; isExisting: boolean }[] = [];
    await inSlices(lines, (line) => {
      const checked = check(line);
      if (typeof checked === 'string') bad.push({ line, reason: checked, isExisting: false });
      else {
        rows.push(checked);
        good.push({ line, id: checked.id });
      }
    });
    found += bad.length;
    yield {
      rows,
      onStored: (refused) => {
        seen.good += good.length - refused.length;
        for (const { index, isRepeated } of refused) {
          const { line, id } = good[index] as (typeof good)[number];
          const reason = `id ${id} ${isRepeated ? 'is used by an earlier line' : 'exists already'}`;
          bad.push({ line, reason, isExisting: !isRepeated });
          // A file that begins with what is stored already is read on: the faults behind that count.
          if (isRepeated) found += 1;
        }
        bad.sort((one, other) => one.line.number - other.line.number);
        for (const { line, reason, isExisting } of bad) seen.bad.note(line, reason, { isExisting });
        onStored();
      },
    };
  }
}

function reportOf({ total, shown, reasons }: BadLines): string {
  const lines = shown().map(({ line, reason }) => `line ${line}: ${visible(reason)}`);
  if (total <= mostShown) return lines.join('\n');
  lines.push(`… and ${count(total - mostShown)} more. By reason:`);
  const counted = reasons().map(({ reason, lines }) => [count(lines), visible(reason)] as const);
  const width = Math.max(...counted.map(([number]) => number.length));
  for (const [number, reason] of counted) lines.push(`  ${number.padStart(width)}  ${reason}`);
  return lines.join('\n');
}

const ofExisting = ({ existing }: BadLines): string =>
  existing === 0 ? '' : ` (${count(existing)} with an ID that exists already)`;

function refusal({ good, bad, stoppedAfter }: Seen): string {
  const counted =
    stoppedAfter === undefined
      ? `Bad: ${count(bad.total)} of ${count(good + bad.total, 'line')}${ofExisting(bad)}. `
      : `Stopped after line ${count(stoppedAfter)}; there may be more bad lines. --dry-run reads all of them.\n`;
  const advice = 'Fix these lines (--help shows a good one), or leave them out with --skip-bad.';
  return `${reportOf(bad)}\n${counted}Nothing was imported. ${advice}`;
}

/** Another process stored one after its ID was looked up. */
const storedMeanwhile = (error: unknown): OperatorFault => {
  const { detail = '' } = error as { detail?: string };
  return new OperatorFault(
    `Another process stored a transaction of this import at the same time. ${detail}\n` +
      'Nothing was imported. Import it again to see which line it is.',
  );
};
