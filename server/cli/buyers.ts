import { Command } from 'commander';
import { parseJson } from '../../client/json.ts';
import { createBuyer } from '../resources/buyers/changes.ts';
import { presentBuyer } from '../resources/buyers/present.ts';
import { isUuid } from '../rules/uuid.ts';
import { findBuyerOfAnyAccount, listBuyers } from '../resources/buyers/queries.ts';
import type { Transaction } from '../resources/transactions/table.ts';
import { listTransactionPage } from '../resources/transactions/list.ts';
import { OperatorFault } from '../operator-fault.ts';
import { eraseCommand } from './erase-buyer.ts';
import { asList, call, noneIn, printJson, printRows, type ListOutput } from './output.ts';
import { accountsOf, listNewest, requireAccount, withDatabase, withWork } from './support.ts';
import { limit, matching } from './values.ts';

interface CreateOptions {
  merchantAccount: string;
  externalIdentifier?: string;
  name?: string;
  accountNumber?: string;
  firstName?: string;
  lastName?: string;
  email?: string;
}

/** Zero bytes cannot be stored. */
const text = matching(/^[^\0]{1,200}$/su, 'Identifiers and names have 1 to 200 characters.');

export function buyers(): Command {
  const command = new Command('buyers');
  asList(command.command('list'))
    .description('list the buyers of a merchant account, newest first')
    .option('--merchant-account <id>', 'account; * is all', 'default')
    .option(
      '--search <text>',
      'whose ID is this, or whose reference, name or email address contains it',
      text,
    )
    .option('--limit <number>', 'how many', limit(10_000), 50)
    .action(listAll);
  command
    .command('show <id>')
    .description('print a buyer as JSON, and since when it is erased, if it is')
    .action(async (id: string) => {
      const found = isUuid(id) ? await withDatabase(({ db }) => findBuyerOfAnyAccount(db, id)) : undefined;
      if (!found) throw new OperatorFault(`There is no buyer ${id}. See: ${call('buyers list')}`);
      printJson({ ...presentBuyer(found), erased_at: found.erased_at });
    });
  command
    .command('create')
    .description('create a buyer; prints it as JSON')
    .option('--merchant-account <id>', 'account', 'default')
    .option('--external-identifier <text>', "the merchant's own reference, unique within the account", text)
    .option('--name <name>', 'name for people', text)
    .option('--account-number <text>', 'number of the account with the merchant', text)
    .option('--first-name <text>', 'first name in the billing details')
    .option('--last-name <text>', 'last name in the billing details')
    .option('--email <address>', 'email address in the billing details')
    .action(create);
  return command.addCommand(eraseCommand());
}

interface ListOptions extends ListOutput {
  merchantAccount: string;
  search?: string;
  limit: number;
}

async function listAll({ merchantAccount, search, limit, ...output }: ListOptions): Promise<void> {
  const { rows, inTransactions } = await withDatabase(async ({ db, isSharded }) => {
    const accounts = await accountsOf(db, merchantAccount);
    const found = await listNewest(accounts, limit, (account) => listBuyers(db, account, { search, limit }));
    if (found.length > 0 || search === undefined) return { rows: found };
    const filter = { buyer_external_identifier: search };
    const page = await listTransactionPage(db, accounts, filter, { limit: 1, cursor: undefined, isSharded });
    const [named] = page.rows.map(({ json }) => parseJson(json) as Transaction);
    return { rows: found, inTransactions: named?.buyer?.id };
  });
  const shown = rows.map(({ id, external_identifier, display_name, erased_at }) => ({
    id,
    external_identifier,
    display_name,
    erased_at,
  }));
  printRows(output.json ? rows.map(presentBuyer) : shown, output, {
    whenEmpty:
      search === undefined
        ? `There is no buyer. Make one: ${call('buyers create --name "Jane Doe"')}`
        : inTransactions === undefined
          ? noneIn('buyer', merchantAccount)
          : `There is no record, but transactions name this buyer, as imported ones do: ${inTransactions}. See: ${call(`buyers erase ${inTransactions} --dry-run`)}`,
  });
  // Who looks for all records of a person must not miss one.
  if (rows.length === limit) console.error(`Only the newest ${limit} are listed. For more: --limit 10000`);
}

async function create(options: CreateOptions): Promise<void> {
  const bill = [options.firstName, options.lastName, options.email].some((text) => text !== undefined);
  const made = await withWork(async (unit) => {
    return createBuyer(unit, {
      merchant_account_id: await requireAccount(unit.db, options.merchantAccount),
      external_identifier: options.externalIdentifier ?? null,
      display_name: options.name ?? null,
      account_number: options.accountNumber ?? null,
      billing_details: bill
        ? {
            type: 'billing-details',
            first_name: options.firstName ?? null,
            last_name: options.lastName ?? null,
            email_address: options.email ?? null,
            phone_number: null,
            address: null,
            tax_id: null,
          }
        : null,
    });
  });
  if (!made) throw new OperatorFault(`There is a buyer ${options.externalIdentifier ?? ''} already.`);
  printJson(presentBuyer(made));
}
