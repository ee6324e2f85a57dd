// `payments`, the command line for operators. It does what the API has no operations for, with the same actions and rules.
import { Command, CommanderError } from 'commander';
import { contractVersion } from '../../generated/operations.ts';
import { visibleLines } from '../visible.ts';
import { collectFaults, everyCommand, WrongCall } from './faults.ts';
import { refuseKeptOptions } from './npm.ts';
import { Refused } from './output.ts';

// Loaded on demand: `payments token`, which the examples in the docs use for every call, must start fast.
const commands: Record<string, () => Promise<Command>> = {
  accounts: async () => (await import('./accounts.ts')).accounts(),
  roles: async () => (await import('./roles.ts')).roles(),
  keys: async () => (await import('./keys.ts')).keys(),
  token: async () => (await import('./token.ts')).token(),
  buyers: async () => (await import('./buyers.ts')).buyers(),
  'gift-cards': async () => (await import('./gift-cards.ts')).giftCards(),
  'payment-methods': async () => (await import('./payment-methods.ts')).paymentMethods(),
  transactions: async () => (await import('./transactions.ts')).transactions(),
  import: async () => (await import('./import.ts')).importCommand(),
  seed: async () => (await import('./seed.ts')).seed(),
  webhooks: async () => (await import('./webhooks.ts')).webhooks(),
  secrets: async () => (await import('./secrets.ts')).secrets(),
  database: async () => (await import('./database.ts')).database(),
  audit: async () => (await import('./audit.ts')).audit(),
  doctor: async () => (await import('./doctor.ts')).doctor(),
  completion: async () => (await import('./completion.ts')).completion(),
};

const program = new Command('payments')
  .description('Operate the payments service. Works whether the server is running or not.')
  .version(contractVersion, '--version', 'print the version of the service and its contract')
  .addHelpText(
    'after',
    `
Examples:
  payments keys create --name "Checkout server" --role administrator --out checkout.pem
  payments token --scopes transactions.read --key checkout.pem
  payments roles create reporting --allow transactions.read
  payments transactions list --status authorization_declined --limit 5
  payments webhooks trigger transaction.updated

Exit codes: 0 done, 1 refused or failed, 2 wrong usage.`,
  );
const args = process.argv.slice(2);
const [name = ''] = args;
// Completion needs to know all commands.
const requested = Object.hasOwn(commands, name) && name !== 'completion' ? commands[name] : undefined;
for (const load of requested ? [requested] : Object.values(commands)) program.addCommand(await load());
for (const command of everyCommand(program)) command.exitOverride();
collectFaults(program, args);

// A reader such as `head` may close the pipe early. The command still finishes its work.
process.stdout.setMaxListeners(0).on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

try {
  refuseKeptOptions(program, args);
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? 0 : 2;
  } else if (error instanceof WrongCall) {
    console.error(visibleLines(error.message));
    process.exitCode = error.exitCode;
  } else {
    const expected = error instanceof Refused || (await isOperatorFault(error));
    const message = error instanceof Error ? error.message : String(error);
    console.error(visibleLines(expected ? message : `Unexpected error: ${message}`));
    process.exitCode = 1;
  }
}

/** Whether the message is a sentence for the operator. Imported only now, because some of these modules load the database. */
async function isOperatorFault(error: unknown): Promise<boolean> {
  const modules = await Promise.all([
    import('../config.ts'),
    import('../domain/state-machine.ts'),
    import('../domain/subscription-limits.ts'),
    import('../private-files.ts'),
    import('../sandbox/secrets-file.ts'),
    import('../store/database.ts'),
    import('../providers/index.ts'),
    import('../domain/web-address.ts'),
  ]);
  const [{ ConfigFault }, { IllegalMove }, { TooManySubscriptions }, ...more] = modules;
  const [{ UnsafeFile }, { SecretsFault }, { DatabaseFault }, { ProvidersFault }, { UncallableAddress }] =
    more;
  return [
    ...[ConfigFault, IllegalMove, TooManySubscriptions],
    ...[UnsafeFile, SecretsFault, DatabaseFault, ProvidersFault, UncallableAddress],
  ].some((kind) => error instanceof kind);
}
