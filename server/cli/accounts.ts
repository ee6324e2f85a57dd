import { Command } from 'commander';
import { createAccount } from '../actions/merchant-accounts.ts';
import { listAccounts } from '../store/merchant-accounts.ts';
import { printJson, printRows, Refused } from './output.ts';
import { withDatabase, withWork } from './support.ts';

export function accounts(): Command {
  const command = new Command('accounts').description('merchant accounts');
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
    .command('create <id>')
    .description('create a merchant account')
    .requiredOption('--name <name>', 'name for people')
    .action(async (id: string, { name }: { name: string }) => {
      // The ID is sent in a header: only printable ASCII, and leading or trailing spaces are lost.
      if (id === '*' || !/^[!-~]([ -~]{0,253}[!-~])?$/.test(id))
        throw new Refused('An account ID has 1 to 255 printable ASCII characters and is not *.');
      if (name.length < 1 || name.length > 200) throw new Refused('A name has 1 to 200 characters.');
      const made = await withWork((unit) => createAccount(unit, { id, display_name: name }));
      if (!made) throw new Refused(`There is a merchant account ${id} already.`);
      printJson(made);
    });
  return command;
}
