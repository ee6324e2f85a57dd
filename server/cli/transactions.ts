import { Argument, Command } from 'commander';
import { moveTransaction } from '../actions/transactions.ts';
import { replacingDeclines } from '../domain/replacement.ts';
import { transactionMoves, type TransactionStatus } from '../domain/state-machine.ts';
import { isUuid } from '../domain/uuid.ts';
import { printJson, Refused } from './output.ts';
import { withEvents } from './support.ts';

export function transactions(): Command {
  const command = new Command('transactions').description('transactions: change their status');
  command
    .command('move <id>')
    .description('move a transaction to another status')
    .addArgument(new Argument('<status>', 'the new status').choices(Object.keys(transactionMoves)))
    .option('--reason <code>', 'why it was declined or failed')
    .addHelpText(
      'after',
      `
A decline with one of these reasons applies a pending replacement of the card:
  ${replacingDeclines.join('\n  ')}

Example:
  payments transactions move 7099948d-7286-47e4-aad8-b68f7eb44591 authorization_declined --reason expired_payment_method`,
    )
    .action(async (id: string, status: TransactionStatus, { reason }: { reason?: string }) => {
      if (reason !== undefined && !/^[a-z0-9_]{1,64}$/.test(reason)) {
        throw new Refused('A reason has lower-case letters, digits and underscores: expired_payment_method');
      }
      const moved = isUuid(id)
        ? await withEvents(({ inUnitOfWork }) =>
            inUnitOfWork((unit) => moveTransaction(unit, id, status, reason)),
          )
        : undefined;
      if (!moved) throw new Refused(`There is no transaction ${id}.`);
      printJson({ id: moved.id, status: moved.status });
    });
  return command;
}
