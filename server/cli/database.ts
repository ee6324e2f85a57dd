import { Command } from 'commander';
import { readCommandConfig } from '../config.ts';
import { hasDatabase, runningUrl, stopEmbedded } from '../database/embedded/index.ts';
import { OperatorFault } from '../faults.ts';
import { commandsHere } from '../installation.ts';
import { untilStopped } from './input.ts';
import { noSandbox } from './output.ts';
import { withService } from './service.ts';

export function makeCommand(): Command {
  const command = new Command('database');
  command
    .command('url')
    .description('print the address for psql and other tools')
    .option('--hold', 'if no server runs: start the embedded database and keep it running until Ctrl-C')
    .action(printUrl);
  command
    .command('stop')
    .description('stop the embedded database, which runs on if the server was killed (kill -9)')
    .action(stopDatabase);
  return command;
}

async function stopDatabase(): Promise<void> {
  const { databaseUrl, dataDir } = readCommandConfig();
  if (databaseUrl !== undefined)
    throw new OperatorFault('DATABASE_URL is set, so the database is not embedded: stop it where it runs.');
  if (!hasDatabase(dataDir)) throw noSandbox(dataDir);
  const stopped = await stopEmbedded(dataDir);
  if (stopped === 'in use')
    throw new OperatorFault(
      'A server or a command is using the embedded database, and stops it when it ends.',
    );
  console.error(`The embedded database ${stopped === 'stopped' ? 'has stopped' : 'is not running'}.`);
}

async function printUrl({ hold = process.stdout.isTTY }: { hold?: boolean }): Promise<void> {
  const { databaseUrl, dataDir } = readCommandConfig();
  const url = databaseUrl ?? (await runningUrl(dataDir));
  if (url !== undefined) {
    console.log(url);
    return;
  }
  if (!hasDatabase(dataDir)) throw noSandbox(dataDir);
  // Otherwise psql "$(payments database url)" would wait forever.
  if (!hold)
    throw new OperatorFault(
      `The embedded database is not running. Start the server: ${commandsHere().start}, or only the database, in another terminal: payments database url --hold`,
    );
  await withService(async () => {
    console.log(await runningUrl(dataDir));
    console.error('No server runs, so this command keeps the database running. Press Ctrl-C to stop.');
    await untilStopped();
  });
}
