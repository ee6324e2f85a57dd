import { Argument, Command } from 'commander';
import { binOf, lastFour, passesLuhn, schemeOf } from '../domain/cards.ts';
import { paymentMethodMoves, type PaymentMethodStatus } from '../domain/state-machine.ts';
import {
  applyExpiredReplacements,
  movePaymentMethod,
  noteReplacement,
} from '../store/payment-method-moves.ts';
import type { Db } from '../store/database.ts';
import { listPaymentMethods, type PaymentMethodRow } from '../store/payment-methods.ts';
import { readSecretLine } from './input.ts';
import { isUuid, printJson, printRows, Refused } from './output.ts';
import { knownAccount, withDatabase } from './support.ts';
import { withEvents } from './events.ts';

const unknown = (id: string) =>
  new Refused(`There is no payment method ${id}. See: payments payment-methods list`);

export function paymentMethods(): Command {
  const command = new Command('payment-methods').description(
    'stored cards: what happens to them after they were stored',
  );
  command
    .command('list')
    .description('list the payment methods of a merchant account, newest first')
    .option('--merchant-account <id>', 'account', 'default')
    .option('--limit <number>', 'how many', '50')
    .option('--json', 'for programs')
    .action(
      async ({
        merchantAccount,
        limit,
        json,
      }: {
        merchantAccount: string;
        limit: string;
        json?: boolean;
      }) => {
        if (!/^\d{1,5}$/.test(limit)) throw new Refused('--limit is a number.');
        const rows = await withDatabase(async ({ db }) =>
          listPaymentMethods(db, await knownAccount(db, merchantAccount), Number(limit)),
        );
        const shown = rows.map((row) => ({
          id: row.id,
          status: row.status,
          scheme: row.scheme,
          label: row.label,
          expires: row.expiration_date,
          has_replacement: row.has_replacement,
          external_identifier: row.external_identifier,
        }));
        printRows(shown, json, 'There is no payment method.');
      },
    );
  command
    .command('move <id>')
    .description('move a payment method to another status')
    .addArgument(new Argument('<status>', 'the new status').choices(Object.keys(paymentMethodMoves)))
    .action(async (id: string, status: PaymentMethodStatus) => {
      const moved = isUuid(id)
        ? await withEvents(({ database, announce }) =>
            movePaymentMethod(database.db, id, status, (db, row) =>
              announce.paymentMethod(db, 'updated', row),
            ),
          )
        : undefined;
      if (!moved) throw unknown(id);
      printJson({ id: moved.id, status: moved.status });
    });
  command
    .command('found-replacement <id>')
    .description(
      'say that the account updater found new details; a new number, if any, comes on standard input',
    )
    .requiredOption('--expiration-date <MM/YY>', 'the new date')
    .option('--new-number', 'read the new number from standard input')
    .action(foundReplacement);
  command
    .command('apply-replacements')
    .description('apply waiting replacements of cards that have expired, as the daily job does')
    .action(async () => {
      const applied = await withEvents(({ database, announce }) =>
        applyExpiredReplacements(database.db, new Date(), (db, row) =>
          announce.paymentMethod(db, 'updated', row),
        ),
      );
      printJson({ applied: applied.map(({ id }) => id) });
    });
  return command;
}

async function foundReplacement(
  id: string,
  options: { expirationDate: string; newNumber?: boolean },
): Promise<void> {
  const { expirationDate } = options;
  if (!/^(0[1-9]|1[0-2])\/\d{2}$/.test(expirationDate))
    throw new Refused('--expiration-date is MM/YY, such as 12/31.');
  const number = options.newNumber === true || !process.stdin.isTTY ? await readSecretLine('New number') : '';
  if (number !== '' && !/^[0-9]{13,19}$/.test(number))
    throw new Refused('A card number has 13 to 19 digits.');
  if (!passesLuhn(number)) throw new Refused('The number is mistyped: its check digit is wrong.');
  const noted = isUuid(id)
    ? await withEvents(({ database, services: { vault, fingerprint, cardOutcome }, announce }) => {
        const card = () =>
          number === ''
            ? {}
            : {
                number_sealed: vault.seal(number, 'card'),
                bin: binOf(number),
                label: lastFour(number),
                fingerprint: fingerprint(number),
                scheme: schemeOf(number),
                card_type: cardOutcome(number)?.cardType ?? null,
                card_issuer_name: cardOutcome(number)?.issuer ?? null,
              };
        const changed = (db: Db, row: PaymentMethodRow) => announce.paymentMethod(db, 'updated', row);
        return noteReplacement(
          database.db,
          id,
          () => ({ expiration_date: expirationDate, ...card() }),
          new Date(),
          changed,
        );
      })
    : undefined;
  if (!noted) throw unknown(id);
  printJson({
    id: noted.id,
    has_replacement: noted.has_replacement,
    last_replaced_at: noted.last_replaced_at,
  });
}
