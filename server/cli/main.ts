// `payments`, the command line for operators. It does what the API has no operations for, with the same actions and rules.
import { Command, CommanderError, Option } from 'commander';
import { buildText, readBuild } from '../build.ts';
import { forOperator } from '../hints.ts';
import { visibleLines } from '../visible.ts';
import { OperatorFault } from '../operator-fault.ts';
import { addExamples } from './examples.ts';
import { collectFaults, everyCommand, WrongCall } from './faults.ts';
import { writeHelp } from './help.ts';
import { refuseKeptOptions } from './npm.ts';
import { settingsOption, takeSettingsFile } from './settings-file.ts';

// Loaded on demand: `payments token`, which the examples in the docs use for every call, must start fast. The descriptions are
// here, so that --help loads none.
const commands: Record<string, [description: string, load: () => Promise<Command>]> = {
  accounts: ['merchant accounts', async () => (await import('./accounts.ts')).accounts()],
  roles: ['roles, which limit what a key pair may do', async () => (await import('./roles.ts')).roles()],
  keys: ['API key pairs, which sign access tokens', async () => (await import('./keys.ts')).keys()],
  token: [
    'sign an access token; prints it and nothing else',
    async () => (await import('./token.ts')).token(),
  ],
  buyers: ['buyers, the owners of stored cards', async () => (await import('./buyers.ts')).buyers()],
  'gift-cards': ['stored gift cards', async () => (await import('./gift-cards.ts')).giftCards()],
  'payment-methods': [
    'stored cards: list them, show one, change their status, replace their details',
    async () => (await import('./payment-methods.ts')).paymentMethods(),
  ],
  transactions: [
    'transactions: list them, show one, change their status',
    async () => (await import('./transactions.ts')).transactions(),
  ],
  import: ['import records from another system', async () => (await import('./import.ts')).importCommand()],
  seed: [
    'create sample transactions, in the sandbox only; the same seed creates the same transactions',
    async () => (await import('./seed.ts')).seed(),
  ],
  webhooks: [
    'webhook subscriptions and their deliveries',
    async () => (await import('./webhooks.ts')).webhooks(),
  ],
  secrets: ['the keys that encrypt stored secrets', async () => (await import('./secrets.ts')).secrets()],
  database: ['the database behind the service', async () => (await import('./database.ts')).database()],
  audit: [
    'show what operators changed with this command line, newest first',
    async () => (await import('./audit.ts')).audit(),
  ],
  doctor: [
    'check the stored data: counters, orphans, values that do not open, stuck deliveries',
    async () => (await import('./doctor.ts')).doctor(),
  ],
  completion: [
    'print a script that completes commands and options with the Tab key',
    async () => (await import('./completion.ts')).completion(),
  ],
};

const program = new Command('payments')
  .description('Operate the payments service. Works whether the server is running or not.')
  .version(
    buildText(readBuild()),
    '--version',
    'print the version, which the service and its contract share, and in a build its commit',
  )
  .option(...settingsOption)
  .addHelpText('after', '\nExit codes: 0 done, 1 refused or failed, 2 wrong usage.');
const settingsFile = takeSettingsFile(process.argv);
const [first, ...words] = process.argv.slice(2);
// Commander's own `help` knows only one word after it.
const asksHelp = first === 'help' && words.length > 0;
const args = asksHelp ? [...words, '--help'] : process.argv.slice(2);
const called = args.find((word) => word !== '--') ?? '';
for (const [name, [description, load]] of Object.entries(commands)) {
  // Completion needs to know all commands.
  const command = name === called || called === 'completion' ? await load() : new Command(name);
  program.addCommand(command.description(description));
}
// With --help, commander would answer an unknown word with the help of what is before it, and exit code 0.
if (asksHelp && !isCommand(program, words)) args.pop();
for (const command of everyCommand(program)) {
  command.exitOverride();
  command.configureOutput({ writeOut: writeHelp });
  addExamples(command);
  acceptJson(command);
}
collectFaults(program, args);
const carriedOut: string[] = [];
program.hook('preAction', (_, action) => {
  carriedOut.push(action.name());
});

// A reader such as `head` may close the pipe early. The command still finishes its work.
process.stdout.setMaxListeners(0).on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

try {
  settingsFile.load();
  refuseKeptOptions(program, args);
  await program.parseAsync(args, { from: 'user' });
  // Only the command that is called first has its action; the others are names for the help.
  if (carriedOut.length === 0)
    throw new WrongCall(['error: nothing was done: the command comes first, before its options']);
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2;
  else {
    console.error(visibleLines(forOperator(await messageOf(error))));
    process.exitCode = error instanceof OperatorFault ? error.exitCode : 1;
  }
}

async function messageOf(error: unknown): Promise<string> {
  if (error instanceof OperatorFault) return error.message;
  // Imported only now, because it loads the database.
  const { setupFault } = await import('../database/database.ts');
  return setupFault(error) ?? `Unexpected error: ${error instanceof Error ? error.message : String(error)}`;
}

/** Scripts add it to every call. Most commands print JSON anyway; these print something else. */
function acceptJson(command: Command): void {
  const others = ['token', 'url', 'stop', 'psql', 'listen', 'work', 'completion'];
  const isOther = command.commands.length > 0 || others.includes(command.name());
  if (!isOther && !command.options.some(({ long }) => long === '--json'))
    command.addOption(new Option('--json').hideHelp());
}

function isCommand({ commands: known }: Command, [word, ...more]: readonly string[]): boolean {
  if (word === undefined || known.length === 0) return true;
  const next = known.find((command) => command.name() === word);
  return next !== undefined && isCommand(next, more);
}
