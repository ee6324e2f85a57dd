import { Command } from 'commander';
import { programName } from '../../generated/operations.ts';
import { readCommandConfig } from '../config.ts';
import { untilStopped } from '../kit/cli/input.ts';
import { noSandbox, printResult, withExamples, type JsonOption } from '../kit/cli/output.ts';
import { count } from '../kit/cli/progress.ts';
import { hasDatabase, runningUrl } from '../kit/database/embedded/index.ts';
import { grantRights } from '../kit/database/grants.ts';
import { OperatorFault } from '../kit/faults.ts';
import { guide } from '../kit/guides.ts';
import { commandsHere } from '../kit/installation.ts';
import { withService, type Call } from './service.ts';

export function makeCommand(call: Call): Command {
  const command = new Command('database');
  command
    .command('url')
    .description('print the address for psql and other tools')
    .option('--hold', 'if no server runs: start the embedded database and keep it running until Ctrl-C')
    .action((options: { hold?: boolean }) => printUrl(call, options));
  withExamples(command.command('migrate'), `database migrate --grant ${programName}`)
    .description(
      'migrate the database to this version; for installations whose service has a role that owns nothing',
    )
    .option(
      '--grant <role>',
      'give this role what the service needs: all rows, but of the audit trail no change',
    )
    .addHelpText(
      'after',
      `\nCall it as the owner of the database, before instances of this version start: see ${guide('guides/operator.md')}.`,
    )
    .action((options: MigrateOptions) => migrateDatabase(call, options));
  return command;
}

interface MigrateOptions extends JsonOption {
  grant?: string;
}

async function migrateDatabase(call: Call, { grant: role, ...output }: MigrateOptions): Promise<void> {
  const migrated = await withService(
    call,
    async ({ database, db }) => {
      if (role !== undefined) await grantRights(db, role);
      return database.migrated;
    },
    { creates: true, isLong: true },
  );
  const granted = role === undefined ? '' : ` The role ${role} has its rights.`;
  const sentence =
    migrated.length === 0
      ? `Nothing to migrate.${granted}`
      : `Applied ${count(migrated.length, 'migration')}, the last is ${migrated.at(-1)}.${granted}`;
  printResult(output, { migrated, granted: role ?? null }, sentence);
}

async function printUrl(call: Call, { hold = process.stdout.isTTY }: { hold?: boolean }): Promise<void> {
  const { databaseUrl, dataDir } = readCommandConfig();
  const url = databaseUrl ?? (await runningUrl(dataDir));
  if (url !== undefined) {
    console.log(url);
    return;
  }
  if (!hasDatabase(dataDir)) throw noSandbox(dataDir);
  // Otherwise `psql "$(… database url)"` would wait forever.
  if (!hold)
    throw new OperatorFault(
      `The embedded database is not running. Start the server: ${commandsHere().start}, or only the database, in another terminal: ${programName} database url --hold`,
    );
  await withService(call, async () => {
    const running = await runningUrl(dataDir);
    const stopped = untilStopped();
    console.log(running);
    console.error('No server runs, so this command keeps the database running. Press Ctrl-C to stop.');
    await stopped;
  });
}
