import { Command } from 'commander';
import { readCommandConfig } from '../config.ts';
import { commandsHere } from '../hints.ts';
import { hasDatabase, runningUrl } from '../postgres/index.ts';
import { call, noSandbox, Refused, untilStopped } from './output.ts';
import { withDatabase } from './support.ts';

export function database(): Command {
  const command = new Command('database');
  command
    .command('url')
    .description('print the address for psql and other tools')
    .option('--hold', 'if no server runs: start the embedded database and keep it running until Ctrl-C')
    .action(printUrl);
  return command;
}

async function printUrl({ hold = process.stdout.isTTY }: { hold?: boolean }): Promise<void> {
  const { databaseUrl, dataDir } = readCommandConfig();
  const url = databaseUrl ?? (await runningUrl(dataDir));
  if (url !== undefined) {
    console.log(url);
    return;
  }
  if (!(await hasDatabase(dataDir))) throw noSandbox(dataDir);
  // Without this, the command substitution in the example would wait forever.
  if (!hold)
    throw new Refused(
      `The embedded database is not running. Start the server: ${commandsHere().start}, or only the database, in another terminal: ${call('database url --hold')}`,
    );
  await withDatabase(async () => {
    console.log(await runningUrl(dataDir));
    console.error('No server runs, so this command keeps the database running. Press Ctrl-C to stop.');
    await untilStopped();
  });
}
