// `payments import transactions FILE|-`: streams a file with one JSON object per line, and imports all of it or nothing. It is
// read by import-read.ts, checked by import-check.ts, and stored here.
import { createReadStream, type Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Command } from 'commander';
import { silently } from '../database/unit-of-work.ts';
import { OperatorFault } from '../faults.ts';
import { shellWord } from '../hints.ts';
import { listAccounts } from '../resources/merchant-accounts/queries.ts';
import { beginImport, StoredMeanwhile, type Import } from '../resources/transactions/changes.ts';
import type { NewTransaction } from '../resources/transactions/queries.ts';
import { inSlices } from '../rules/async.ts';
import { collectBadLines, createLineCheck, type BadLines, type LineCheck } from './import-check.ts';
import { readBatches, refuseOtherForms, type Line } from './import-read.ts';
import { interruptible } from './input.ts';
import { printJson, printResult, type JsonOption } from './output.ts';
import { count, withProgress } from './progress.ts';
import { exampleTarget, withService, type OpenedService } from './service.ts';

export function importCommand(): Command {
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
Each line is a Transaction resource, with its buyer and its card as \`payments transactions list --json\` prints them. What may be null may be left out. It may also have metadata (object of strings), payment_source, merchant_initiated,
is_subsequent_payment and payment_service_transaction_id. Every line is checked against the contract. A bad line is
reported with its number and the reason, and nothing is imported unless --skip-bad is given. Without --skip-bad, --bad and
--dry-run it stops soon after 20 bad lines. The exit code with --skip-bad is 0, also if lines were left out. Ctrl-C leaves
nothing behind. A line with a card number in metadata or raw_response_description is bad, because both are stored as text. Amounts
are taken as they are, also a captured amount above the authorised one. A decline that is later than a replacement found for its card applies that replacement. No webhook event is
sent unless --events is given.

A line, which is the example of the contract:
  ${JSON.stringify(exampleTarget('transaction.created'))}`,
    )
    .action(run);
  return command;
}

interface Options extends JsonOption {
  skipBad?: boolean;
  bad?: string;
  dryRun?: boolean;
  events?: boolean;
}

const badAdvice = 'Fix these lines (--help shows a good one), or leave them out with --skip-bad.';
const storedAdvice =
  'These transactions are stored already, and an import never changes them. To import only the others, add --skip-bad.';

/** Rolls a dry run back. */
class DryRun extends Error {}

async function run(file: string, options: Options): Promise<void> {
  const { skipBad = false, dryRun = false, events = false } = options;
  const found = file === '-' ? undefined : await findFile(file);
  const readsAll = skipBad || dryRun || options.bad !== undefined;
  const bad = collectBadLines(options.bad);
  const input = file === '-' ? process.stdin : createReadStream(file);
  // Whoever reads gets the error; without a listener it would also end the process.
  input.on('error', () => undefined);
  let imported = 0;
  let existing = 0;
  const shareOfBad = () => `Bad: ${count(bad.total())} of ${count(imported + bad.total(), 'line')}. `;
  const result = (isImported: boolean) => ({
    dry_run: dryRun,
    good_lines: imported,
    bad_lines: bad.total(),
    imported: isImported ? imported : 0,
    errors: bad.shown(),
  });
  const importAll =
    (update: (text: string) => void, interruption: AbortSignal) =>
    ({ changeWithEvents }: OpenedService) =>
      changeWithEvents(async (unit) => {
        const accounts = await listAccounts(unit.db);
        const check = createLineCheck(new Set(accounts.map(({ id }) => id)));
        const begun = await beginImport(events ? unit : silently(unit, 'imported without --events'));
        const store = (good: GoodLine[]): Promise<void> =>
          storeLines(begun, good, bad).then((stored) => {
            imported += stored.imported;
            existing += stored.existing;
          });
        let stoppedAfter: number | undefined;
        // The next lines are read, checked and encoded while the database stores these.
        let storing = Promise.resolve();
        let next = storing;
        try {
          for await (const { lines, read, isLast } of readBatches(
            refuseOtherForms(input, file, { skipBad }),
          )) {
            next = store(await checkLines(lines, check, bad));
            next.catch(() => undefined);
            await storing;
            storing = next;
            const share = found ? ` (${Math.round((100 * read) / Math.max(found.size, 1))} %)` : '';
            update(`Importing: ${count(imported, 'transaction')}${share}`);
            // A file with unreadable lines may be binary, or endless like /dev/zero.
            const isUnreadable = lines.some((line) => 'fault' in line);
            if (!readsAll && !isLast && (isUnreadable || bad.isReportFull())) {
              stoppedAfter = lines.at(-1)?.line;
              break;
            }
          }
        } finally {
          // Reading may have failed. A store that goes on after the rollback would be outside of the transaction.
          await next.catch(() => undefined);
        }
        await storing;
        if (bad.total() > 0 && !skipBad)
          throw new OperatorFault(
            `${bad.report(stoppedAfter)}\n${stoppedAfter === undefined ? shareOfBad() : ''}Nothing was imported. ${existing === bad.total() ? storedAdvice : badAdvice}`,
          );
        if (dryRun) throw new DryRun();
        await begun.finish();
        // It may have come after the last line was read.
        interruption.throwIfAborted();
        return true;
      });
  try {
    await interruptible('Interrupted; nothing was imported.', (interruption) => {
      interruption.addEventListener('abort', () => input.destroy(interruption.reason as Error));
      return withProgress('Importing', (update) =>
        withService(importAll(update, interruption), { creates: true, isLong: true, isRepeatable: false }),
      );
    });
  } catch (error) {
    if (!(error instanceof DryRun)) {
      const isStoredMeanwhile = error instanceof StoredMeanwhile;
      if (options.json && (isStoredMeanwhile || error instanceof OperatorFault)) printJson(result(false));
      if (!isStoredMeanwhile) throw error;
      throw new OperatorFault(
        `${error.message}\nNothing was imported. Import it again to see which line it is.`,
      );
    }
  } finally {
    // Otherwise the process waits until the writer of standard input ends, which may be never.
    input.destroy();
    bad.close();
  }
  if (bad.total() > 0) console.error(bad.report());
  else if (imported === 0)
    console.error(
      `${file === '-' ? 'Standard input' : file} has no lines. If it should have some, check what writes it.`,
    );
  const leftOut = bad.total() > 0 ? `, left ${count(bad.total(), 'bad line')} out` : '';
  const sentence = dryRun
    ? `Checked ${count(imported, 'transaction')}${leftOut}. Nothing was imported (--dry-run).`
    : `Imported ${count(imported, 'transaction')}${leftOut}.`;
  printResult(options, result(!dryRun), sentence);
}

async function findFile(file: string): Promise<Stats> {
  const found = await stat(file).catch((error: unknown) => {
    const { code } = error as NodeJS.ErrnoException;
    throw new OperatorFault(
      code === 'ENOENT'
        ? `There is no file ${file}. Check the path, or read standard input with -`
        : `${file} cannot be read (${code ?? 'unknown'}).`,
    );
  });
  if (!found.isDirectory()) return found;
  throw new OperatorFault(
    `${file} is a folder. Name one file, or import all of them: cat ${shellWord(file)}/*.jsonl | payments import transactions -`,
  );
}

interface GoodLine {
  line: Line;
  row: NewTransaction;
}

/** Returns the valid lines; adds the others to `bad`. */
async function checkLines(lines: Line[], check: LineCheck, bad: BadLines): Promise<GoodLine[]> {
  const good: GoodLine[] = [];
  await inSlices(lines, (line) => {
    const checked = check(line);
    if (typeof checked === 'string') bad.note(line, checked);
    else good.push({ line, row: checked });
  });
  return good;
}

/** Returns how many were stored, and how many had been before. Not `async`, so that the rows are not kept until then. */
function storeLines(
  begun: Import,
  good: GoodLine[],
  bad: BadLines,
): Promise<{ imported: number; existing: number }> {
  const places = good.map(({ line, row: { id } }) => ({ line, id }));
  return begun.create(good.map(({ row }) => row)).then((refused) => {
    for (const { index, isRepeated } of refused) {
      const { line, id } = places[index] as (typeof places)[number];
      bad.note(line, isRepeated ? `id ${id} is used by an earlier line` : `id ${id} exists already`);
    }
    const existing = refused.filter(({ isRepeated }) => !isRepeated).length;
    return { imported: places.length - refused.length, existing };
  });
}
