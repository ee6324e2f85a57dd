import { Command } from 'commander';
import { programName } from '../../generated/operations.ts';
import { loadFacts } from '../domain.ts';
import { createAccount, deleteAccount } from '../kit/access/accounts/changes.ts';
import { listAccounts } from '../kit/access/accounts/queries.ts';
import { pick, printJson, printRows, withExamples, type JsonOption } from '../kit/cli/output.ts';
import { matching, name } from '../kit/cli/values.ts';
import { OperatorFault } from '../kit/faults.ts';
import { requireAccount, withChange, withService, type Call } from './service.ts';

export function makeCommand(call: Call): Command {
  const command = new Command('accounts');
  command
    .command('list')
    .description('list merchant accounts, oldest first; requests that name no account use the oldest')
    .action(async (output: JsonOption) => {
      const rows = await withService(call, ({ db }) => listAccounts(db));
      const create = `${programName} accounts create default --name Default`;
      const shown = pick(rows, 'id', 'display_name', 'created_at');
      printRows(shown, output, `There is no merchant account. Make one: ${create}`);
    });
  withExamples(command.command('create'), 'accounts create shop --name "Second shop"')
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
      const made = await withChange(call, async (unit) => {
        const account = await createAccount(unit, { id, display_name });
        if (account.kind === 'taken') throw new OperatorFault(`There is a merchant account ${id} already.`);
        await unit.audit({ about: id });
        return account.row;
      });
      printJson(made);
    });
  command
    .command('delete <id>')
    .description('delete a merchant account that was never used')
    .action(async (id: string) => {
      const { facts } = await loadFacts();
      await withChange(call, async (unit) => {
        await requireAccount(unit.db, id);
        if ((await deleteAccount(unit, id, facts)).kind === 'used')
          throw new OperatorFault(
            `The merchant account ${id} was used, or has records, key pairs or events, so it cannot be deleted.`,
          );
        await unit.audit({ about: id });
      });
      printJson({ id, deleted: true });
    });
  return command;
}
