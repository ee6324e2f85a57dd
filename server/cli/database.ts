import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Command } from 'commander';
import { environmentWith, readCommandConfig } from '../config.ts';
import { commandsHere } from '../hints.ts';
import { hasDatabase, runningUrl, stopEmbedded } from '../database/embedded/index.ts';
import { OperatorFault } from '../operator-fault.ts';
import { call, noSandbox, untilStopped } from './output.ts';
import { withDatabase } from './support.ts';

export function database(): Command {
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
  command
    .command('psql')
    .description(
      'open the database with psql; starts the embedded one if no server runs. What you change there has no event and no audit entry',
    )
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

/** Parameters of an address that psql has variables for. The others are for Node, such as `ssl`. */
const parameters = {
  ...{ host: 'PGHOST', port: 'PGPORT', user: 'PGUSER', password: 'PGPASSWORD', dbname: 'PGDATABASE' },
  ...{ sslmode: 'PGSSLMODE', sslrootcert: 'PGSSLROOTCERT', sslcert: 'PGSSLCERT', sslkey: 'PGSSLKEY' },
  ...{ options: 'PGOPTIONS', application_name: 'PGAPPNAME', connect_timeout: 'PGCONNECT_TIMEOUT' },
};

/** Variables, because others on the machine can see the arguments of a program. */
export function variablesOf(url: string): Record<string, string> {
  const { hostname, port, username, password, pathname, searchParams } = new URL(url);
  const given = new Map([
    ...([
      ['host', decoded(hostname).replace(/^\[(.*)\]$/, '$1')],
      ['port', port],
      ['user', decoded(username)],
      ['password', decoded(password)],
      ['dbname', decoded(pathname.slice(1))],
    ] as const),
    ...searchParams,
  ]);
  // A mode of Node's driver.
  if (given.get('sslmode') === 'no-verify') given.set('sslmode', 'require');
  return Object.fromEntries(
    Object.entries(parameters).flatMap(([name, variable]) => {
      const value = given.get(name);
      return value === undefined || value === '' ? [] : [[variable, value]];
    }),
  );
}

/** As the driver does: a text with a stray percent sign stays as it is. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

async function runPsql(url: string, args: string[]): Promise<void> {
  const child = spawn('psql', args, { stdio: 'inherit', env: environmentWith(variablesOf(url)) });
  // Ctrl-C reaches psql as well, which cancels a statement. Other signals are sent to this process alone.
  const signals = {
    SIGINT: () => undefined,
    SIGTERM: () => child.kill('SIGTERM'),
    SIGHUP: () => child.kill('SIGHUP'),
  };
  for (const [signal, listener] of Object.entries(signals)) process.on(signal, listener);
  try {
    const [code] = (await once(child, 'exit')) as [number | null];
    process.exitCode = code ?? 1;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new OperatorFault('psql is not installed. Install it, for example: apt install postgresql-client');
  } finally {
    for (const [signal, listener] of Object.entries(signals)) process.off(signal, listener);
  }
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
  // Without this, the command substitution in the example would wait forever.
  if (!hold)
    throw new OperatorFault(
      `The embedded database is not running. Start the server: ${commandsHere().start}, or only the database, in another terminal: ${call('database url --hold')}`,
    );
  await withDatabase(async () => {
    console.log(await runningUrl(dataDir));
    console.error('No server runs, so this command keeps the database running. Press Ctrl-C to stop.');
    await untilStopped();
  });
}
