// The command line for operators. It does what the API has no operations for, with the same actions and rules.
import { Command, CommanderError } from 'commander';
import { programName } from '../../generated/operations.ts';
import { commands as ownCommands, examples } from '../commands/index.ts';
import { loadSettings } from '../config.ts';
import { WrongCall, withExamples } from '../kit/cli/output.ts';
import { setupFault } from '../kit/database/faults.ts';
import { OperatorFault, reasonOf } from '../kit/faults.ts';
import {
  buildText,
  commandsHere,
  isInstallation,
  readBuild,
  serviceName,
  settingsVariable,
} from '../kit/installation.ts';
import { endOnUncaught, uncaughtText } from '../kit/log/uncaught.ts';
import { visibleLines } from '../kit/log/visible.ts';
import type { Call } from './service.ts';

// Loaded on demand: `token`, which the examples in the docs use for every call, must start fast. The descriptions are
// here, so that --help loads none.
const commands: Record<
  string,
  readonly [description: string, load: () => Promise<{ makeCommand: (call: Call) => Command }>]
> = {
  start: [
    'start a sandbox here, or with ENVIRONMENT=production the service',
    () => import('../../testing/program/start.ts'),
  ],
  accounts: ['merchant accounts', () => import('./accounts.ts')],
  roles: ['roles, which limit what a key pair may do', () => import('./roles.ts')],
  keys: ['API key pairs, which sign access tokens', () => import('./keys.ts')],
  token: ['sign an access token; prints it and nothing else', () => import('./token.ts')],
  ...ownCommands,
  webhooks: ['webhook subscriptions and their deliveries', () => import('./webhooks.ts')],
  secrets: ['the keys that encrypt stored secrets', () => import('./secrets.ts')],
  database: ['the database behind the service', () => import('./database.ts')],
  audit: ['show what operators changed with this command line, newest first', () => import('./audit.ts')],
  doctor: [
    'check the stored data, and name receivers that fail, cards that wait, a wrong clock, interrupted erasures',
    () => import('./doctor.ts'),
  ],
};

const program = new Command(programName)
  .description(`Operate the ${serviceName}. Works whether the server is running or not.`)
  .version(
    buildText(readBuild()),
    '--version',
    'print the version of the service and its contract, and the commit of a build',
  )
  // Not `--env-file`: Node 20 and 22 take that for an option of their own, also after the name of the script.
  .option(
    '--settings <file>',
    `read settings from this file, unless they are set already; default: the file in ${settingsVariable}`,
  )
  .addHelpText('after', '\nExit codes: 0 done, 1 refused or failed, 2 wrong usage, 78 wrong settings.');
if (!isInstallation())
  program.addHelpText('beforeAll', `Here ${programName} is called as: ${commandsHere().command} …\n`);
withExamples(program, ...examples);
const given = process.argv.slice(2);
const settingsFile = takeSettingsFile(given);
// The service reports such errors in its own way.
if (given[0] !== 'start')
  endOnUncaught((uncaught) => {
    console.error(visibleLines(uncaughtText('Unexpected error', uncaught)));
  });
// Commander's own `help` knows only one word after it.
const args = given[0] === 'help' && given.length > 1 ? [...given.slice(1), '--help'] : given;
for (const [name, [description, load]] of Object.entries(commands)) {
  const command = name === args[0] ? (await load()).makeCommand({ args }) : new Command(name);
  program.addCommand(command.description(description));
}
for (const command of everyCommand(program)) {
  command.exitOverride().showHelpAfterError('(add --help for more)');
  command.configureOutput({
    writeErr: (text) => process.stderr.write(visibleLines(text)),
  });
  // Scripts add it to every call, also where JSON is printed anyway.
  const printsOther = ['start', 'token', 'url', 'listen', 'work'].includes(command.name());
  if (command.commands.length === 0 && !printsOther)
    command.option('--json', 'print JSON, for programs; a list is an object with its rows in items');
}

// A reader such as `head` may close the pipe early. The command still finishes its work.
process.stdout.setMaxListeners(0).on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

try {
  if (settingsFile === '') throw new WrongCall('--settings needs the path of a file.');
  for (const warning of loadSettings(settingsFile)) console.error(visibleLines(warning));
  await program.parseAsync(args, { from: 'user' });
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2;
  else {
    console.error(visibleLines(messageOf(error)));
    process.exitCode = error instanceof OperatorFault ? error.exitCode : 1;
  }
}

// A module of PROVIDERS may hold a timer or a connection, which would keep the process for ever.
process.stdout.write('', () => setTimeout(() => process.exit(), 500).unref());

function messageOf(error: unknown): string {
  if (error instanceof OperatorFault) return error.message;
  return setupFault(error) ?? `Unexpected error: ${reasonOf(error)}`;
}

function everyCommand(command: Command): Command[] {
  return [command, ...command.commands.flatMap(everyCommand)];
}

/**
 * Removes `--settings` from the arguments, so that they begin with the command, also for the audit trail. The last one counts,
 * because an alias may have one, too.
 */
function takeSettingsFile(argv: string[]): string | undefined {
  const end = argv.indexOf('--');
  const at = argv.findIndex((word) => /^--settings(?:=|$)/.test(word));
  if (at === -1 || (end !== -1 && end < at)) return undefined;
  const [, joined] = /=(.*)$/s.exec(argv[at] ?? '') ?? [];
  const [, next = ''] = argv.splice(at, joined === undefined ? 2 : 1);
  return takeSettingsFile(argv) ?? joined ?? next;
}
