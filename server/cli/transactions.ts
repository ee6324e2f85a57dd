import { Argument, Command } from 'commander';
import { moveTransaction } from '../resources/transactions/changes.ts';
import { replacingDeclines } from '../resources/payment-methods/rules.ts';
import { transactionMoves, type TransactionStatus } from '../rules/state-machine.ts';
import { isUuid } from '../rules/uuid.ts';
import { presentTransaction } from '../resources/transactions/present.ts';
import { findTransactionOfAnyAccount } from '../resources/transactions/queries.ts';
import { OperatorFault } from '../operator-fault.ts';
import { WrongCall } from './faults.ts';
import { historyCommand } from './history.ts';
import { call, printJson, shellWord } from './output.ts';
import { withDatabase, withEvents } from './support.ts';
import { listCommand } from './transactions-list.ts';
import { matching } from './values.ts';

const notFound = (id: string) =>
  new OperatorFault(
    isUuid(id)
      ? `There is no transaction ${id}. See: ${call('transactions list')}`
      : `${id} is not the ID of a transaction. If it is a reference, see: ${call(`transactions list --merchant-account '*' --search ${shellWord(id)}`)}`,
  );

export function transactions(): Command {
  const command = new Command('transactions')
    .addCommand(listCommand())
    .addCommand(historyCommand('transaction', findTransactionOfAnyAccount, notFound));
  command
    .command('show <id>')
    .description('print a transaction as JSON, as the API shows it')
    .action(async (id: string) => {
      const found = await withDatabase(({ db }) => findTransactionOfAnyAccount(db, id));
      if (!found) throw notFound(id);
      printJson(presentTransaction(found));
    });
  command
    .command('move <id>')
    .description('move a transaction to another status')
    .addArgument(new Argument('<status>', 'the new status').choices(Object.keys(transactionMoves)))
    .option(
      '--reason <code>',
      'why it was declined or failed',
      matching(
        /^[a-z0-9_]{1,64}$/,
        'A reason has lower-case letters, digits and underscores: expired_payment_method',
      ),
    )
    .addHelpText(
      'after',
      `
A decline with one of these reasons applies a pending replacement of the card:
  ${replacingDeclines.join('\n  ')}`,
    )
    .action(async (id: string, status: TransactionStatus, { reason }: { reason?: string }) => {
      if (reason !== undefined && !/_(declined|failed)$/.test(status))
        throw new WrongCall([
          `--reason says why a transaction was declined or failed, not why it is ${status}.`,
        ]);
      const moved = isUuid(id)
        ? await withEvents(({ inUnitOfWork }) =>
            inUnitOfWork((unit) => moveTransaction(unit, id, status, reason)),
          )
        : undefined;
      if (!moved) throw notFound(id);
      printJson({ id: moved.id, status: moved.status });
    });
  return command;
}
