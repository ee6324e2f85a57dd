// `payments`, the operator's command line: what the API does not show is done here, through the same rules.
import { Command, CommanderError } from 'commander';
import { visibleLines } from '../visible.ts';
import { Refused } from './output.ts';

// Loaded when they are asked for: a token, which every call in the docs begins with, needs no database.
const nouns: Record<string, () => Promise<Command>> = {
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
};

const program = new Command('payments')
  .description('Operate the payments service. Works while the server runs, and while it does not.')
  .showHelpAfterError('(add --help for more)')
  .addHelpText(
    'after',
    `
Examples:
  payments keys create --name "Checkout server" --role administrator --out checkout.pem
  payments token --scopes transactions.read --key checkout.pem
  payments roles create reporting --allow transactions.read

Exit codes: 0 done, 1 refused or failed, 2 wrong usage.`,
  );
const noun = process.argv[2] ?? '';
const named = Object.hasOwn(nouns, noun) ? nouns[noun] : undefined;
for (const load of named ? [named] : Object.values(nouns)) program.addCommand(await load());
for (const command of [program, ...program.commands, ...program.commands.flatMap((sub) => sub.commands)]) {
  command.exitOverride().showHelpAfterError('(add --help for more)');
  command.configureOutput({
    outputError: (text, write) => {
      write(visibleLines(text));
    },
  });
}

// Whoever reads us may have read enough, as `head` does. The work goes on to its end.
process.stdout.setMaxListeners(0).on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? 0 : 2;
  } else {
    const expected = error instanceof Refused || (await isForPeople(error));
    const message = error instanceof Error ? error.message : String(error);
    console.error(visibleLines(expected ? message : `It failed: ${message}`));
    process.exitCode = 1;
  }
}

/** Faults whose message is a sentence for people. Looked up only now, because some of them load the database. */
async function isForPeople(error: unknown): Promise<boolean> {
  const [{ ConfigFault }, { IllegalMove }, { UnsafeFile }, { SecretsFault }, { DatabaseFault }] =
    await Promise.all([
      import('../config.ts'),
      import('../domain/state-machine.ts'),
      import('../private-files.ts'),
      import('../sandbox/secrets-file.ts'),
      import('../store/database.ts'),
    ]);
  return [ConfigFault, IllegalMove, UnsafeFile, SecretsFault, DatabaseFault].some(
    (kind) => error instanceof kind,
  );
}
