// `payments payment-methods verify`: asks the card verifier again, such as after an outage of it.
import { randomUUID } from 'node:crypto';
import { Command } from 'commander';
import { withService, type Call, type OpenedService } from '../cli/service.ts';
import { listAccounts } from '../kit/access/accounts/queries.ts';
import { printRows, withExamples, WrongCall, type JsonOption } from '../kit/cli/output.ts';
import { count, withProgress } from '../kit/cli/progress.ts';
import { ids as collectIds } from '../kit/cli/values.ts';
import type { Db } from '../kit/database/database.ts';
import { OperatorFault, reasonOf } from '../kit/faults.ts';
import { readTime } from '../kit/maintenance/clock.ts';
import { validateCard } from '../providers/cards.ts';
import { guardProviders, loadProviders } from '../providers/index.ts';
import { findPaymentMethodOfAnyAccount } from '../resources/payment-methods/any-account.ts';
import { movePaymentMethod } from '../resources/payment-methods/changes.ts';
import { listProcessingIds } from '../resources/payment-methods/queries.ts';

export const verifyCommand = (call: Call): Command =>
  withExamples(new Command('verify'), 'payment-methods verify --processing', 'payment-methods verify ID ID')
    .description('ask the card verifier again about cards in processing')
    .argument('[id...]', 'their IDs', collectIds)
    .option('--processing', 'all cards in processing, of all accounts')
    .addHelpText(
      'after',
      `
The verifier gets no security code, because it is not stored. A card that it cannot verify stays as it is. The service may run meanwhile.`,
    )
    .action((ids: string[] | undefined, options: VerifyOptions) => verify(call, ids, options));

interface VerifyOptions extends JsonOption {
  processing?: boolean;
}

async function verify(
  call: Call,
  ids: string[] = [],
  { processing = false, ...output }: VerifyOptions,
): Promise<void> {
  if (ids.length > 0 === processing) throw new WrongCall('Give IDs of payment methods, or --processing.');
  const rows = await withProgress('Verifying cards', (update) =>
    withService(
      call,
      async (service) => {
        const verifyOne = await openVerifier(service, { isEachAudited: processing });
        const asked = processing ? await listAllProcessing(service.db) : [...new Set(ids)];
        const done: Verified[] = [];
        for (const id of asked) {
          update(`Verifying cards: ${count(done.length)} of ${count(asked.length)}`);
          done.push(
            await verifyOne(id).catch((fault: unknown) => ({ id, status: null, error: reasonOf(fault) })),
          );
        }
        return done;
      },
      // An account may have millions of cards to search through.
      { creates: true, isLong: true },
    ),
  );
  printRows(rows, output, 'There is no card in processing.');
  const failures = rows.filter(({ error }) => error !== null).length;
  if (failures > 0)
    throw new OperatorFault(
      `Not verified, and left as they are: ${failures} of ${count(rows.length, 'card')}.`,
    );
}

async function listAllProcessing(db: Db): Promise<string[]> {
  const ids: string[] = [];
  for (const { id: account } of await listAccounts(db))
    for (const id of await listProcessingIds(db, account)) ids.push(id);
  return ids;
}

type Verified = {
  id: string;
  status: string | null;
  error: string | null;
};

/** One audit entry is enough for all cards that the command names. */
async function openVerifier(
  { db, config, secrets: { vault }, changeWithEvents }: OpenedService,
  { isEachAudited }: { isEachAudited: boolean },
) {
  // A card in processing cannot become buyer_approval_required.
  const providers = guardProviders(await loadProviders(config), { hasApprovals: false });
  // Without one, every card would succeed.
  if (!providers.verifyCard)
    throw new OperatorFault('There is no card verifier: set PROVIDERS, as for the service.');
  let isAudited = false;
  return async (id: string): Promise<Verified> => {
    const found = await findPaymentMethodOfAnyAccount(db, id);
    if (!found) return { id, status: null, error: 'There is no such payment method.' };
    const { merchant_account_id: owner, number_sealed, expiration_date, status } = found;
    if (status !== 'processing' || number_sealed === null || expiration_date === null)
      return { id, status, error: `It is ${status}, not processing.` };
    const number = vault.open(number_sealed, { purpose: 'card-number', owner, id });
    const card = { number, expiration_date, security_code: null };
    const context = { merchantAccountId: owner, requestId: randomUUID(), paymentMethodId: id };
    const verdict = await validateCard(card, {
      context: { ...context, isRepeated: true },
      providers,
      // A card that has expired fails for good, so the clock of this machine does not decide.
      now: await readTime(db),
      // The rows that are printed say why a card was not verified.
      warn: () => undefined,
    });
    const { status: next, verification_error: error } = verdict;
    // What is known stays, if the provider cannot describe the card now.
    const description = {
      card_type: verdict.card_type ?? found.card_type,
      card_issuer_name: verdict.card_issuer_name ?? found.card_issuer_name,
    };
    if (next === 'processing') return { id, status, error };
    const result = await changeWithEvents(async (unit) => {
      const moved = await movePaymentMethod(unit, id, next, { onlyFrom: 'processing', description });
      if (moved?.kind === 'moved' && (isEachAudited || !isAudited)) await unit.audit({ about: id });
      return moved;
    });
    // It was moved meanwhile.
    if (result?.kind === 'illegal') return { id, status: null, error: result.reason };
    isAudited = true;
    return { id, status: next, error };
  };
}
