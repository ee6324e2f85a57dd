import { Command } from 'commander';
import { readConfig } from '../config.ts';
import { runningUrl } from '../postgres/index.ts';
import { Refused, untilStopped } from './output.ts';
import { withDatabase } from './support.ts';

export function database(): Command {
  const command = new Command('database').description('the database behind the service');
  command
    .command('url')
    .description('print the address for psql and other tools')
    .option('--hold', 'while no server runs: start the embedded database and keep it until Ctrl-C')
    .addHelpText('after', '\nExample:\n  psql "$(npm run -s payments -- database url)"')
    .action(printUrl);
  return command;
}

async function printUrl({ hold = process.stdout.isTTY }: { hold?: boolean }): Promise<void> {
  const { databaseUrl, dataDir } = readConfig();
  const known = databaseUrl ?? (await runningUrl(dataDir));
  if (known !== undefined) {
    console.log(known);
    return;
  }
  // A script that asks, as in the example, would wait for us for ever.
  if (!hold)
    throw new Refused(
      'The embedded database runs while the server does. Start it: npm start, or in another terminal: payments database url --hold',
    );
  await withDatabase(async () => {
    console.log(await runningUrl(dataDir));
    console.error('No server runs, so this command keeps the database running. Ctrl-C ends it.');
    await untilStopped();
  });
}
