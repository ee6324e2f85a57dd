import { Command } from 'commander';
import { createRole } from '../actions/roles.ts';
import { isPermission } from '../domain/scopes.ts';
import { listRoles } from '../store/roles.ts';
import { asList, printJson, printRows, Refused, type ListOutput } from './output.ts';
import { withDatabase, withWork } from './support.ts';
import { matching, name, scopes } from './values.ts';

export function roles(): Command {
  const command = new Command('roles');
  asList(command.command('list'))
    .description('list roles')
    .action(async (output: ListOutput) => {
      const rows = await withDatabase(({ db }) => listRoles(db));
      printRows(
        rows.map(({ slug, name, permissions }) => ({ slug, name, allow: permissions })),
        output,
        { whenEmpty: 'There is no role.' },
      );
    });
  command
    .command('create')
    .description('create a role')
    .argument(
      '<slug>',
      'its short name',
      matching(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'A slug has lower-case letters, digits and hyphens: finance-team'),
    )
    .requiredOption(
      '--allow <permissions>',
      'what it allows, separated by commas: transactions.read,*.write',
      scopes(
        isPermission,
        (wrong) =>
          `${wrong.join(', ') || 'An empty list'} is not a permission. Write <resource>.read, <resource>.write, *.read or *.write.`,
      ),
    )
    .option('--name <name>', 'name for people; the slug if left out', name)
    .option('--description <text>', 'what it is for')
    .action(async (slug: string, options: { allow: string[]; name?: string; description?: string }) => {
      // A slug can be longer than a name.
      const display = name(options.name ?? slug);
      const role = {
        slug,
        name: display,
        description: options.description ?? null,
        permissions: options.allow,
      };
      const made = await withWork((unit) => createRole(unit, role));
      if (!made) throw new Refused(`There is a role ${slug} already.`);
      printJson(made);
    });
  return command;
}
