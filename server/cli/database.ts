import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Command } from 'commander';
import { environmentWith, readCommandConfig } from '../config.ts';
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
  command
    .command('psql')
    .description('open the database with psql; starts the embedded one if no server runs')
    .argument('[args...]', 'options of psql, after --')
    .action(openPsql);
  return command;
}

async function openPsql(args: string[]): Promise<void> {
  const { databaseUrl, dataDir } = readCommandConfig();
  const url = databaseUrl ?? (await runningUrl(dataDir));
  if (url !== undefined) await runPsql(url, args);
  else await withDatabase(async () => runPsql((await runningUrl(dataDir)) ?? '', args));
}

/** The password is not among the arguments, which others on the machine can see. */
async function runPsql(url: string, args: string[]): Promise<void> {
  const address = new URL(url);
  const password = address.searchParams.get('password') ?? decodeURIComponent(address.password);
  address.password = '';
  address.searchParams.delete('password');
  const env = environmentWith(password === '' ? {} : { PGPASSWORD: password });
  // Ctrl-C is for psql, which cancels a statement.
  const ignore = () => undefined;
  process.on('SIGINT', ignore);
  try {
    const [code] = (await once(
      spawn('psql', [`--dbname=${address.href}`, ...args], { stdio: 'inherit', env }),
      'exit',
    )) as [number | null];
    process.exitCode = code ?? 1;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new Refused('psql is not installed. Install it, for example: apt install postgresql-client');
  } finally {
    process.off('SIGINT', ignore);
  }
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
