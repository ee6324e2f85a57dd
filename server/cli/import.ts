// `payments import transactions FILE|-`: one JSON object a line, streamed; all of the file or nothing of it.
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { Command } from 'commander';
import { createAjv, pointTo } from '../contract/ajv.ts';
import { loadContract } from '../contract/load.ts';
import { createTranslator } from '../contract/violations.ts';
import type { Announce } from '../events.ts';
import type { Db } from '../store/database.ts';
import { createTransactions } from '../store/transaction-moves.ts';
import {
  analyzeTransactions,
  findTransaction,
  present,
  unstorable,
  type NewTransaction,
} from '../store/transactions.ts';
import { count, startProgress } from './progress.ts';
import { Refused, withEvents } from './support.ts';

const batch = 1000;
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

async function run(
  file: string,
  { skipBad, events }: { skipBad?: boolean; events?: boolean },
): Promise<void> {
  const size = file === '-' ? undefined : (await stat(file).catch(() => undefined))?.size;
  if (file !== '-' && size === undefined) throw new Refused(`${file} cannot be read.`);
  const input = file === '-' ? process.stdin : createReadStream(file);
  const check = createLineCheck();
  const progress = startProgress('Importing');
  const bad: BadLine[] = [];
  let kept = 0;
  try {
    await withEvents(({ database, announce }) =>
      database.db.transaction().execute(async (transaction) => {
        const accounts = new Set(
          (await transaction.selectFrom('merchant_accounts').select('id').execute()).map(({ id }) => id),
        );
        for await (const { lines, read } of batches(input)) {
          const stored = await keep(transaction, lines, (text) => check(text, accounts), bad);
          kept += stored.length;
          if (events) await announceAll(transaction, stored, announce);
          const share = size === undefined ? '' : ` (${Math.round((100 * read) / Math.max(size, 1))} %)`;
          progress.say(`Importing: ${count(kept)} transactions${share}`);
          if (!skipBad && bad.length >= mostBadLines) break;
        }
        if (bad.length > 0 && !skipBad)
          throw new Refused(
            `${report(bad)}\nNothing was imported. Mend the lines, or leave them out with --skip-bad.`,
          );
        await analyzeTransactions(transaction);
      }),
    );
  } catch (error) {
    progress.failed();
    throw error;
  }
  if (bad.length > 0) console.error(report(bad));
  progress.done(
    `Imported ${count(kept)} transactions${bad.length > 0 ? `, left ${count(bad.length)} bad lines out` : ''}.`,
  );
}

async function announceAll(db: Db, rows: NewTransaction[], announce: Announce): Promise<void> {
  for (const { id } of rows) {
    const row = await findTransaction(db, id);
    if (row) await announce.transaction(db, 'created', present(row));
  }
}

async function keep(
  db: Db,
  lines: Line[],
  check: (text: string) => NewTransaction | string,
  bad: BadLine[],
): Promise<NewTransaction[]> {
  const good: { line: number; row: NewTransaction }[] = [];
  for (const { line, text } of lines) {
    const checked = check(text);
    if (typeof checked === 'string') bad.push({ line, reason: checked });
    else good.push({ line, row: checked });
  }
  const refused = await createTransactions(
    db,
    good.map(({ row }) => row),
  );
  for (const index of refused)
    bad.push({ line: good[index]?.line ?? 0, reason: `id ${good[index]?.row.id ?? ''} exists already` });
  const left = new Set(refused);
  return good.filter((_, index) => !left.has(index)).map(({ row }) => row);
}

interface Line {
  line: number;
  text: string;
}

async function* batches(input: NodeJS.ReadableStream): AsyncGenerator<{ lines: Line[]; read: number }> {
  let lines: Line[] = [];
  let line = 0;
  let read = 0;
  for await (const text of createInterface({ input, crlfDelay: Infinity })) {
    line += 1;
    read += Buffer.byteLength(text) + 1;
    if (text.trim() !== '') lines.push({ line, text });
    if (lines.length < batch) continue;
    yield { lines, read };
    lines = [];
  }
  if (lines.length > 0) yield { lines, read };
}

/** The transaction, or what is wrong with the line. */
function createLineCheck(): (text: string, accounts: ReadonlySet<string>) => NewTransaction | string {
  const { document } = loadContract();
  const ajv = createAjv(document, { verbose: true });
  const translate = createTranslator(ajv);
  const resource = ajv.compile(pointTo('/components/schemas/Transaction'));
  const extras = ajv.compile({
    type: 'object',
    properties: {
      metadata: { type: ['object', 'null'], additionalProperties: { type: 'string' } },
      payment_source: { anyOf: [pointTo('/components/schemas/PaymentSource'), { type: 'null' }] },
      merchant_initiated: { type: ['boolean', 'null'] },
      is_subsequent_payment: { type: ['boolean', 'null'] },
      payment_service_transaction_id: { type: ['string', 'null'] },
    },
  });
  return (text, accounts) => {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      return 'is not valid JSON';
    }
    if (value === null || typeof value !== 'object' || Array.isArray(value)) return 'is not a JSON object';
    const given = value as NewTransaction;
    const {
      metadata,
      payment_source,
      merchant_initiated,
      is_subsequent_payment,
      payment_service_transaction_id,
      ...transaction
    } = given;
    void [
      metadata,
      payment_source,
      merchant_initiated,
      is_subsequent_payment,
      payment_service_transaction_id,
    ];
    const errors = [
      ...(resource(transaction) ? [] : (resource.errors ?? [])),
      ...(extras(given) ? [] : (extras.errors ?? [])),
    ];
    if (errors.length > 0) {
      return translate(errors, 'body')
        .map(({ pointer, message }) => `${pointer || 'it'} ${message}`)
        .join('; ');
    }
    if (!accounts.has(given.merchant_account_id))
      return `/merchant_account_id ${given.merchant_account_id} does not exist`;
    return unstorable(given) ?? given;
  };
}

function report(bad: BadLine[]): string {
  const shown = bad.slice(0, mostBadLines).map(({ line, reason }) => `line ${line}: ${reason}`);
  if (bad.length > mostBadLines) shown.push(`… and ${count(bad.length - mostBadLines)} more`);
  return shown.join('\n');
}
