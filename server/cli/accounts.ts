import { Command } from 'commander';
import { createAccount } from '../actions/merchant-accounts.ts';
import { listAccounts } from '../store/merchant-accounts.ts';
import { printJson, printRows, Refused } from './output.ts';
import { withDatabase, withWork } from './support.ts';
import { matching, name } from './values.ts';

export function accounts(): Command {
  const command = new Command('accounts');
  command
    .command('list')
    .description('list merchant accounts, oldest first; requests that name no account use the oldest')
    .option('--json', 'for programs')
    .action(async ({ json }: { json?: boolean }) => {
      const rows = await withDatabase(({ db }) => listAccounts(db));
      const shown = rows.map(({ id, display_name, created_at }) => ({ id, display_name, created_at }));
      printRows(
        shown,
        json,
        'There is no merchant account. Make one: payments accounts create default --name Default',
      );
    });
  command
    .command('create')
    .description('create a merchant account')
    // The ID is sent in a header: only printable ASCII, and leading or trailing spaces are lost.
    .argument(
      '<id>',
      'ID in requests',
      matching(
        /^(?!\*$)[!-~]([ -~]{0,253}[!-~])?$/,
        'An account ID has 1 to 255 printable ASCII characters and is not *.',
      ),
    )
    .requiredOption('--name <name>', 'name for people', name)
    .action(async (id: string, { name: display_name }: { name: string }) => {
      const made = await withWork((unit) => createAccount(unit, { id, display_name }));
      if (!made) throw new Refused(`There is a merchant account ${id} already.`);
      printJson(made);
    });
  return command;
}
