// `payments`, the operator's command line: what the API does not show is done here, through the same rules.
import { Command, CommanderError } from 'commander';
import { ConfigFault } from '../config.ts';
import { IllegalMove } from '../domain/state-machine.ts';
import { SecretsFault } from '../sandbox/secrets.ts';
import { DatabaseFault } from '../store/database.ts';
import { accounts } from './accounts.ts';
import { buyers } from './buyers.ts';
import { database } from './database.ts';
import { giftCards } from './gift-cards.ts';
import { importCommand } from './import.ts';
import { keys } from './keys.ts';
import { paymentMethods } from './payment-methods.ts';
import { roles } from './roles.ts';
import { secrets } from './secrets.ts';
import { seed } from './seed.ts';
import { Refused } from './support.ts';
import { token } from './token.ts';
import { transactions } from './transactions.ts';
import { webhooks } from './webhooks.ts';

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
for (const command of [
  accounts(),
  roles(),
  keys(),
  token(),
  buyers(),
  giftCards(),
  paymentMethods(),
  transactions(),
  importCommand(),
  seed(),
  webhooks(),
  secrets(),
  database(),
])
  program.addCommand(command);
for (const command of [program, ...program.commands, ...program.commands.flatMap((sub) => sub.commands)]) {
  command.exitOverride().showHelpAfterError('(add --help for more)');
}

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? 0 : 2;
  } else {
    const expected = [Refused, ConfigFault, DatabaseFault, IllegalMove, SecretsFault].some(
      (kind) => error instanceof kind,
    );
    const message = error instanceof Error ? error.message : String(error);
    console.error(expected ? message : `It failed: ${message}`);
    process.exitCode = 1;
  }
}
