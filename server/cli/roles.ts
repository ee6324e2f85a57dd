import { Command } from 'commander';
import { createRole } from '../actions/roles.ts';
import { isPermission } from '../domain/scopes.ts';
import { listRoles } from '../store/roles.ts';
import { list, printJson, printRows, Refused } from './output.ts';
import { withDatabase, withWork } from './support.ts';

export function roles(): Command {
  const command = new Command('roles').description('roles, which limit what a key pair may do');
  command
    .command('list')
    .description('list roles')
    .option('--json', 'for programs')
    .action(async ({ json }: { json?: boolean }) => {
      const rows = await withDatabase(({ db }) => listRoles(db));
      printRows(
        rows.map(({ slug, name, permissions }) => ({ slug, name, allow: permissions })),
        json,
        'There is no role.',
      );
    });
  command
    .command('create <slug>')
    .description('create a role')
    .requiredOption('--allow <permissions>', 'what it allows, separated by commas: transactions.read,*.write')
    .option('--name <name>', 'name for people; the slug if left out')
    .option('--description <text>', 'what it is for')
    .action(
      async (
        slug: string,
        { allow, name, description }: { allow: string; name?: string; description?: string },
      ) => {
        const permissions = list(allow);
        const wrong = permissions.filter((permission) => !isPermission(permission));
        if (permissions.length === 0 || wrong.length > 0) {
          throw new Refused(
            `${wrong.join(', ') || 'An empty list'} is not a permission. Write <resource>.read, <resource>.write, *.read or *.write.`,
          );
        }
        if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(slug))
          throw new Refused('A slug has lower-case letters, digits and hyphens: finance-team');
        if (name?.length === 0 || (name ?? slug).length > 200)
          throw new Refused('A name has 1 to 200 characters.');
        const role = { slug, name: name ?? slug, description: description ?? null, permissions };
        const made = await withWork((unit) => createRole(unit, role));
        if (!made) throw new Refused(`There is a role ${slug} already.`);
        printJson(made);
      },
    );
  return command;
}
