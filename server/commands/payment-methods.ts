import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import {
  listNewest,
  notFound,
  publicUrlOf,
  readAccounts,
  withPublishedChange,
  withService,
  type Call,
} from '../cli/service.ts';
import { readSecretLine } from '../kit/cli/input.ts';
import { noneIn, printJson, printRows, withExamples, type JsonOption } from '../kit/cli/output.ts';
import { count } from '../kit/cli/progress.ts';
import { matching, uuid, whole } from '../kit/cli/values.ts';
import { OperatorFault, reasonOf } from '../kit/faults.ts';
import { visibleLines } from '../kit/log/visible.ts';
import { passesLuhn } from '../kit/rules/card-numbers.ts';
import { guardProviders, loadProviders } from '../providers/index.ts';
import { findBuyerOfAnyAccount } from '../resources/buyers/any-account.ts';
import { findPaymentMethodOfAnyAccount } from '../resources/payment-methods/any-account.ts';
import {
  applyExpiredReplacements,
  movePaymentMethod,
  recordReplacement,
} from '../resources/payment-methods/changes.ts';
import { listPaymentMethods } from '../resources/payment-methods/queries.ts';
import {
  hasExpired,
  paymentMethodMoves,
  type PaymentMethodStatus,
} from '../resources/payment-methods/rules.ts';
import { presentPaymentMethod } from '../resources/payment-methods/table.ts';
import { historyOption, printHistory } from './history.ts';
import { eraseCommand } from './payment-methods-erase.ts';
import { verifyCommand } from './payment-methods-verify.ts';

const noMethod = (id: string) => notFound('payment method', id, 'payment-methods list');

export function makeCommand(call: Call): Command {
  const command = new Command('payment-methods');
  withExamples(command.command('list'), 'payment-methods list --buyer customer-42 --status succeeded')
    .description('list payment methods, newest first')
    .option('--merchant-account <id>', 'account; * is all', 'default')
    .option(
      '--search <text>',
      "find by ID, or by a part of the merchant's reference or of the last four digits",
    )
    .option('--buyer <id>', "of this buyer: its ID, or the merchant's reference")
    .addOption(
      new Option('--status <status...>', 'with one of these statuses').choices(
        Object.keys(paymentMethodMoves),
      ),
    )
    .option('--limit <number>', 'how many', whole(1, 10_000), 50)
    .action((options: ListOptions) => listMethods(call, options));
  command
    .command('show')
    .argument('<id>', 'its ID', uuid)
    .description('print a payment method as JSON, as the API shows it, with its pending replacement')
    .addHelpText('after', '\nThe card number is never printed: `label` has its last four digits.')
    .option(...historyOption)
    .action((id: string, { history = false, ...output }: ShowOptions) =>
      history ? printHistory(call, id, output, findPaymentMethodOfAnyAccount, noMethod) : show(call, id),
    );
  command
    .command('move')
    .description('move a payment method to another status')
    .argument('<id>', 'its ID', uuid)
    .addArgument(new Argument('<status>', 'the new status').choices(Object.keys(paymentMethodMoves)))
    .action(async (id: string, status: PaymentMethodStatus) => {
      const moved = await withPublishedChange(call, async (unit) => {
        const result = await movePaymentMethod(unit, id, status);
        if (!result) throw noMethod(id);
        if (result.kind === 'illegal') throw new OperatorFault(result.reason);
        await unit.audit({ about: id });
        return result.row;
      });
      printJson({ id: moved.id, status: moved.status });
    });
  command.addCommand(verifyCommand(call));
  command.addCommand(eraseCommand(call));
  withExamples(
    command.command('found-replacement'),
    'payment-methods found-replacement ID --expiration-date 12/31',
    'payment-methods found-replacement ID --expiration-date 12/31 --new-number',
  )
    .description('record new card details that the account updater found')
    .argument('<id>', 'its ID', uuid)
    .requiredOption('--expiration-date <MM/YY>', 'the new date', futureDate)
    .option('--new-number', 'require a new number on standard input; without this option, it is optional')
    .action((id: string, options: FoundOptions) =>
      foundReplacement({ ...call, isPersonal: (option) => option === '--expiration-date' }, id, options),
    );
  command
    .command('apply-replacements')
    .description('apply pending replacements of cards that have expired, as the daily job does')
    .action(() => applyReplacements(call));
  return command;
}

function futureDate(text: string): string {
  const date = matching(/^(0[1-9]|1[0-2])\/\d{2}$/, 'Give MM/YY, such as 12/31.')(text);
  if (hasExpired(date, new Date())) throw new InvalidArgumentError('It is in the past.');
  return date;
}

interface ListOptions extends JsonOption {
  merchantAccount: string;
  buyer?: string;
  status?: PaymentMethodStatus[];
  search?: string;
  limit: number;
}

async function listMethods(call: Call, { merchantAccount, json, ...filter }: ListOptions): Promise<void> {
  const rows = await withService(call, async ({ db }) =>
    listNewest(db, await readAccounts(db, merchantAccount), filter.limit, (account) =>
      listPaymentMethods(db, account, filter),
    ),
  );
  const shown = rows.map((row) => ({
    id: row.id,
    status: row.status,
    account: row.merchant_account_id,
    scheme: row.scheme,
    label: row.label,
    expires: row.expiration_date,
    has_replacement: row.has_replacement,
    external_identifier: row.external_identifier,
  }));
  printRows(shown, { json }, noneIn('payment method', merchantAccount));
}

interface ShowOptions extends JsonOption {
  history?: boolean;
}

async function show(call: Call, id: string): Promise<void> {
  const shown = await withService(call, async ({ db, config }) => {
    const found = await findPaymentMethodOfAnyAccount(db, id);
    if (!found) throw noMethod(id);
    const buyer = found.buyer_id === null ? undefined : await findBuyerOfAnyAccount(db, found.buyer_id);
    const { replacement, replacement_found_at } = found;
    return {
      ...presentPaymentMethod(found, buyer, await publicUrlOf(db, config)),
      replacement: replacement && {
        // A card whose number stays keeps its label and scheme.
        label: replacement.label ?? found.label,
        scheme: replacement.scheme ?? found.scheme,
        expiration_date: replacement.expiration_date,
        found_at: replacement_found_at,
      },
    };
  });
  printJson(shown);
}

async function applyReplacements(call: Call): Promise<void> {
  const failed: { id: string; error: string }[] = [];
  const applied = await withService(
    call,
    ({ db, changeWithEvents }) =>
      applyExpiredReplacements(
        db,
        (work) =>
          changeWithEvents(async (unit) => {
            const changed = await work(unit);
            if (changed.length > 0) await unit.audit({});
            return changed;
          }),
        (id, error) => failed.push({ id, error: reasonOf(error) }),
      ),
    { creates: true },
  );
  printJson({ applied, failed });
  if (failed.length > 0)
    throw new OperatorFault(`Not applied, and left as before: ${count(failed.length, 'replacement')}.`);
}

interface FoundOptions {
  expirationDate: string;
  newNumber?: boolean;
}

async function foundReplacement(call: Call, id: string, options: FoundOptions): Promise<void> {
  const { expirationDate, newNumber = false } = options;
  const number = newNumber || !process.stdin.isTTY ? await readNumber(newNumber) : undefined;
  const details = { expiration_date: expirationDate, ...(number !== undefined && { number }) };
  const noted = await withService(
    call,
    async ({ changeWithEvents, secrets, config }) => {
      const { describeCard } = guardProviders(await loadProviders(config), { hasApprovals: false });
      const { vault, keysOf } = secrets;
      const describe = (given: string) =>
        describeCard(given, (message, error) => {
          console.error(visibleLines(`${message}: ${error.message}`));
        });
      return changeWithEvents(async (unit) => {
        const result = await recordReplacement(unit, id, details, { vault, keysOf, describeCard: describe });
        if (!result) throw noMethod(id);
        if (result.kind === 'illegal') throw new OperatorFault(result.reason);
        await unit.audit({ about: id });
        return result.row;
      });
    },
    { creates: true },
  );
  printJson({
    id: noted.id,
    has_replacement: noted.has_replacement,
    last_replaced_at: noted.last_replaced_at,
  });
}

async function readNumber(isRequired: boolean): Promise<string | undefined> {
  const number = await readSecretLine('New number');
  if (number === '') {
    if (!isRequired) return undefined;
    throw new OperatorFault(
      'Standard input is empty. It must have the new number; if the number stays, leave out --new-number.',
    );
  }
  if (!/^[0-9]{13,19}$/.test(number)) throw new OperatorFault('A card number has 13 to 19 digits.');
  if (!passesLuhn(number))
    throw new OperatorFault('The card number is wrong: its check digit does not match.');
  return number;
}
