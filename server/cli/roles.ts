import { Command } from 'commander';
import { programName } from '../../generated/operations.ts';
import { createRole, deleteRole, updateRole } from '../kit/access/roles/changes.ts';
import { listRoles } from '../kit/access/roles/queries.ts';
import { isPermission } from '../kit/access/roles/rules.ts';
import { printJson, printRows, withExamples, WrongCall, type JsonOption } from '../kit/cli/output.ts';
import { scopesLike, matching, name } from '../kit/cli/values.ts';
import { OperatorFault } from '../kit/faults.ts';
import { notFound, withChange, withService, type Call } from './service.ts';

export function makeCommand(call: Call): Command {
  const command = new Command('roles');
  command
    .command('list')
    .description('list roles')
    .action(async (output: JsonOption) => {
      const rows = await withService(call, ({ db }) => listRoles(db));
      printRows(
        rows.map(({ slug, name, permissions }) => ({ slug, name, allow: permissions })),
        output,
        'There is no role.',
      );
    });
  const example = 'roles create reporting --allow transactions.read,api-key-pairs.read --name Reporting';
  withExamples(addOptions(command.command('create'), { isNew: true }), example)
    .description('create a role')
    .action(async (slug: string, { allow: permissions = [], description = null, ...options }: Options) => {
      // A slug can be longer than a name.
      const role = { slug, name: name(options.name ?? slug), description, permissions };
      const made = await withChange(call, async (unit) => {
        const stored = await createRole(unit, role);
        if (stored.kind === 'taken')
          throw new OperatorFault(
            `There is a role ${slug} already. To change it: ${programName} roles update ${slug}`,
          );
        await unit.audit({ about: stored.row.id });
        return stored.row;
      });
      printJson(made);
    });
  withExamples(
    addOptions(command.command('update'), { isNew: false }),
    "roles update reporting --allow '*.read'",
  )
    .description('change what a role allows, for all its key pairs, within two seconds')
    .action(async (slug: string, { allow, name, description }: Options) => {
      refuseBuiltIn(slug);
      const changes = {
        ...(allow && { permissions: allow }),
        ...(name !== undefined && { name }),
        ...(description !== undefined && { description }),
      };
      if (Object.keys(changes).length === 0)
        throw new WrongCall('Say what to change: --allow, --name or --description.');
      const changed = await withChange(call, async (unit) => {
        const role = await updateRole(unit, slug, changes);
        if (!role) throw unknown(slug);
        await unit.audit({ about: role.id });
        return role;
      });
      printJson(changed);
    });
  command
    .command('delete')
    .description('delete a role that no key pair has')
    .argument('<slug>', 'its short name', slugValue)
    .action(async (slug: string) => {
      refuseBuiltIn(slug);
      await withChange(call, async (unit) => {
        const deleted = await deleteRole(unit, slug);
        if (!deleted) throw unknown(slug);
        if (deleted.kind === 'inUse')
          throw new OperatorFault(
            `These key pairs have the role ${slug}: ${deleted.pairs.map((pair) => `${pair.display_name} (${pair.id})`).join(', ')}. It was not deleted. To allow less: ${programName} roles update ${slug} --allow …`,
          );
        await unit.audit({ about: slug });
      });
      printJson({ slug, deleted: true });
    });
  return command;
}

interface Options {
  allow?: string[];
  name?: string;
  description?: string | null;
}

const slugValue = matching(
  /^[a-z0-9]+(-[a-z0-9]+)*$/,
  'A slug has lower-case letters, digits and hyphens: finance-team',
);

function addOptions(command: Command, { isNew }: { isNew: boolean }): Command {
  const allow = command
    .createOption('--allow <permissions>', 'what it allows, separated by commas: transactions.read,*.write')
    .argParser(scopesLike(isPermission, '<resource>.read, <resource>.write, *.read or *.write'))
    .makeOptionMandatory(isNew);
  return command
    .argument('<slug>', 'its short name', slugValue)
    .addOption(allow)
    .option('--name <name>', isNew ? 'name for people; the slug if left out' : 'name for people', name)
    .option('--description <text>', 'what it is for');
}

const unknown = (slug: string) => notFound('role', slug, 'roles list');

/** `administrator` keeps all permissions. */
function refuseBuiltIn(slug: string): void {
  if (slug === 'administrator')
    throw new OperatorFault('The role administrator is built in. To allow less, create another role.');
}
