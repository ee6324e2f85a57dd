import { Command } from 'commander';
import { parseJson } from '../../client/json.ts';
import {
  readAccounts,
  auditOnce,
  listNewest,
  notFound,
  requireAccount,
  withChange,
  withService,
  type Call,
} from '../cli/service.ts';
import { confirm } from '../kit/cli/input.ts';
import {
  noneIn,
  pick,
  printJson,
  printResult,
  printRows,
  withExamples,
  type JsonOption,
} from '../kit/cli/output.ts';
import { withProgress } from '../kit/cli/progress.ts';
import { name, uuid, whole } from '../kit/cli/values.ts';
import { withLock } from '../kit/database/unit-of-work.ts';
import { OperatorFault } from '../kit/faults.ts';
import { guide } from '../kit/guides.ts';
import { findBuyerOfAnyAccount } from '../resources/buyers/any-account.ts';
import { createBuyer } from '../resources/buyers/changes.ts';
import { listBuyers } from '../resources/buyers/queries.ts';
import { presentBuyer } from '../resources/buyers/table.ts';
import { eraseBuyer } from '../resources/erasure/erase-buyer.ts';
import { listed } from '../resources/erasure/steps.ts';
import { listTransactionPage } from '../resources/transactions/list.ts';
import type { Transaction } from '../resources/transactions/table.ts';

export function makeCommand(call: Call): Command {
  const command = new Command('buyers');
  command
    .command('list')
    .description('list the buyers of a merchant account, newest first')
    .option('--merchant-account <id>', 'account; * is all', 'default')
    .option('--search <text>', 'find by ID, or by a part of the reference, name or email address', name)
    .option('--limit <number>', 'how many', whole(1, 10_000), 50)
    .action((options: ListOptions) => listAll(call, options));
  command
    .command('show')
    .argument('<id>', 'its ID', uuid)
    .description('print a buyer as JSON, with the time of its erasure')
    .action(async (id: string) => {
      const found = await withService(call, ({ db }) => findBuyerOfAnyAccount(db, id));
      if (!found) throw notFound('buyer', id, 'buyers list');
      printJson({ ...presentBuyer(found), erased_at: found.erased_at });
    });
  command
    .command('create')
    .description('create a buyer; prints it as JSON')
    .option('--merchant-account <id>', 'account', 'default')
    .option('--external-identifier <text>', "the merchant's own reference, unique within the account", name)
    .option('--name <name>', 'name for people', name)
    .option('--account-number <text>', 'number of the account with the merchant', name)
    .option('--first-name <text>', 'first name in the billing details')
    .option('--last-name <text>', 'last name in the billing details')
    .option('--email <address>', 'email address in the billing details')
    // Whatever is said of a buyer must stay erasable.
    .action((options: CreateOptions) =>
      create({ ...call, isPersonal: (option) => option !== '--merchant-account' }, options),
    );
  return command.addCommand(eraseCommand(call));
}

interface ListOptions extends JsonOption {
  merchantAccount: string;
  search?: string;
  limit: number;
}

async function listAll(
  call: Call,
  { merchantAccount, search, limit, ...output }: ListOptions,
): Promise<void> {
  const { rows, inTransactions } = await withService(call, async ({ db }) => {
    const accounts = await readAccounts(db, merchantAccount);
    const found = await listNewest(db, accounts, limit, (account) =>
      listBuyers(db, account, { search, limit }),
    );
    if (found.length > 0 || search === undefined) return { rows: found };
    const filter = { buyer_external_identifier: search };
    const page = await listTransactionPage(db, accounts, filter, { limit: 1, cursor: undefined });
    const [named] = page.rows.map(({ json }) => parseJson(json.toString()) as Transaction);
    return { rows: found, inTransactions: named?.buyer?.id };
  });
  const shown = pick(rows, 'id', 'external_identifier', 'display_name', 'erased_at');
  const whenEmpty =
    search === undefined
      ? `There is no buyer. Make one: payments buyers create --name "Jane Doe"`
      : inTransactions === undefined
        ? noneIn('buyer', merchantAccount)
        : `There is no buyer record, but imported transactions name ${inTransactions}. See: payments buyers erase ${inTransactions} --dry-run`;
  printRows(output.json ? rows.map(presentBuyer) : shown, output, whenEmpty);
  // An operator who looks for all records of a person must notice that some are missing.
  if (rows.length === limit) console.error(`Only the newest ${limit} are listed. For more: --limit 10000`);
}

interface CreateOptions {
  merchantAccount: string;
  externalIdentifier?: string;
  name?: string;
  accountNumber?: string;
  firstName?: string;
  lastName?: string;
  email?: string;
}

async function create(call: Call, options: CreateOptions): Promise<void> {
  const { firstName = null, lastName = null, email = null, externalIdentifier } = options;
  const billing = {
    type: 'billing-details' as const,
    ...{ first_name: firstName, last_name: lastName, email_address: email },
    ...{ phone_number: null, address: null, tax_id: null },
  };
  const made = await withChange(call, async (unit) => {
    const buyer = await createBuyer(unit, {
      merchant_account_id: await requireAccount(unit.db, options.merchantAccount),
      external_identifier: externalIdentifier,
      display_name: options.name,
      account_number: options.accountNumber,
      billing_details: [firstName, lastName, email].some((text) => text !== null) ? billing : null,
    });
    if (buyer.kind === 'taken') throw new OperatorFault(`There is a buyer ${externalIdentifier} already.`);
    await unit.audit({ about: buyer.row.id });
    return buyer.row;
  });
  printJson(presentBuyer(made));
}

interface EraseOptions extends JsonOption {
  references?: boolean;
  dryRun?: boolean;
  yes?: boolean;
}

const eraseCommand = (call: Call): Command =>
  withExamples(new Command('erase'), 'buyers erase ID --dry-run', 'buyers erase ID --references')
    .description('remove the personal data of a buyer; amounts and states of its transactions stay')
    .argument('<id>', 'the ID of the buyer', uuid)
    .option('--references', "erase the merchant's reference (external_identifier) of its transactions, too")
    .option('--dry-run', 'count the records that have personal data, and change nothing')
    .option('--yes', 'do not ask')
    .addHelpText(
      'after',
      `
Erases personal data in the buyer, its cards and its transactions. Deletes the events that show it, pending ones too, and the answers
kept for an Idempotency-Key. The cards become failed and cannot be used again. No event is sent. This cannot be undone.
If the command is interrupted, run it again. For what is kept, and why, see ${guide('guides/personal-data.md')}`,
    )
    .action((id: string, options: EraseOptions) => erase(call, id, options));

async function erase(
  call: Call,
  id: string,
  { references = false, dryRun = false, yes, ...output }: EraseOptions,
): Promise<void> {
  if (!dryRun && !yes) await confirm(`Erase the personal data of buyer ${id}? This cannot be undone.`);
  const erasure = await withProgress(`Erasing buyer ${id}`, (update) =>
    withService(
      call,
      ({ db }) =>
        withLock(db, `erase buyer ${id}`, () =>
          eraseBuyer(id, {
            db,
            inStep: auditOnce(db, call),
            references,
            dryRun,
            onProgress: (soFar) => {
              update(`Erasing buyer ${id}: ${listed(soFar)}`);
            },
          }),
        ),
      // Statistics of large tables take minutes.
      { isLong: true },
    ),
  );
  if (!erasure) throw new OperatorFault('This buyer is being erased by another command.');
  if (!erasure.done)
    throw new OperatorFault(`There is no buyer ${id}, neither as a record nor in transactions.`);
  const { found, isDone } = erasure.done;
  const isContinued = Object.values(found).every((records) => records === 0);
  const sentence = isDone
    ? `Buyer ${id} is already erased.`
    : isContinued
      ? `Finished what an earlier run had left: buyer ${id} is erased.`
      : `${dryRun ? 'Has personal data' : 'Erased'}: ${listed(found)}.`;
  printResult(output, { id, dry_run: dryRun, already_erased: isDone, found }, sentence);
}
