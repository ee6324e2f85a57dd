// What changes stored cards: creating them, moving their status, and replacing their details.
import { randomUUID } from 'node:crypto';
import type { Db } from '../../kit/database/database.ts';
import type { InUnitOfWork, UnitOfWork } from '../../kit/database/unit-of-work.ts';
import { BrokenEvent, withEvent, type EventTx } from '../../kit/events/outbox.ts';
import { groupByAccount } from '../../kit/rules/accounts.ts';
import { findIllegalMove, type IllegalMove } from '../../kit/rules/state-machine.ts';
import type { KeysOf } from '../../kit/secrets/digest-keys.ts';
import type { Vault } from '../../kit/secrets/vault.ts';
import type { CardDescription } from '../../providers/cards.ts';
import { lockBuyer } from '../buyers/queries.ts';
import type { BuyerRow } from '../buyers/table.ts';
import { lockPaymentMethodOfAnyAccount } from './any-account.ts';
import {
  findPaymentMethodId,
  insertPaymentMethod,
  listDueReplacements,
  lockDueReplacements,
  noReplacement,
  presentWithBuyer,
  updatePaymentMethod,
  updateReplacement,
  type PaymentMethodRow,
} from './queries.ts';
import {
  binOf,
  lastFour,
  schemeOf,
  paymentMethodMoves,
  type Trigger,
  type PaymentMethodStatus,
  fingerprintOf,
} from './rules.ts';

export interface CardSecrets {
  vault: Vault;
  keysOf: KeysOf;
}

export interface NewCard extends CardDescription {
  id?: string;
  /** Why it could not be verified. */
  verification_error?: string | null;
  merchant_account_id: string;
  buyer_id: string | null;
  external_identifier: string | null;
  number: string;
  expiration_date: string;
  status: PaymentMethodStatus;
  redirect_url: string | null;
}

const publishing = <Changed extends PaymentMethodRow | undefined>(
  unit: UnitOfWork,
  name: 'payment-method.created' | 'payment-method.updated',
  change: (db: EventTx) => Promise<Changed>,
  known?: BuyerRow,
): Promise<Changed> =>
  withEvent(unit, name, (row: PaymentMethodRow) => presentWithBuyer(unit, row, known), change);

/** What is stored of a number. It is sealed inside the transaction, because a rotation of the key waits for transactions. */
async function numberColumns(
  { db }: UnitOfWork,
  { id, merchant_account_id: owner }: Pick<PaymentMethodRow, 'id' | 'merchant_account_id'>,
  number: string,
  { card_type, card_issuer_name }: CardDescription,
  { vault, keysOf }: CardSecrets,
) {
  return {
    scheme: schemeOf(number),
    bin: binOf(number),
    label: lastFour(number),
    fingerprint: fingerprintOf(await keysOf(db, owner), number),
    // A replacement is sealed for the same place as the number, because it becomes the number.
    number_sealed: vault.seal(number, { purpose: 'card-number', owner, id }),
    card_type,
    card_issuer_name,
  };
}

/** What is stored of a card that cannot be used: nothing that tells its number. */
const noNumber = { number_sealed: null, fingerprint: null, ...noReplacement };

/** `by` is the ID of the record that has the external identifier, if that is what is taken. */
interface Taken {
  kind: 'taken';
  by: string | null;
}

/** `buyer`: the card's, if the caller has locked it already. */
export async function storeCard(
  unit: UnitOfWork,
  card: NewCard,
  secrets: CardSecrets,
  buyer?: BuyerRow,
): Promise<{ kind: 'made'; row: PaymentMethodRow } | Taken> {
  const { number, card_type, card_issuer_name, id = randomUUID(), ...columns } = card;
  const stored = await numberColumns(
    unit,
    { ...columns, id },
    number,
    { card_type, card_issuer_name },
    secrets,
  );
  const { merchant_account_id: account, external_identifier: external } = card;
  const row = { ...columns, id, ...stored, ...(card.status === 'failed' ? noNumber : {}) };
  const made = await publishing(
    unit,
    'payment-method.created',
    (db) => insertPaymentMethod(db, row, unit.now),
    buyer,
  );
  if (made) return { kind: 'made', row: made };
  const existing = external === null ? undefined : await findPaymentMethodId(unit.db, account, external);
  return { kind: 'taken', by: existing?.id ?? null };
}

/** Undefined when there is no such payment method. */
export async function movePaymentMethod(
  unit: UnitOfWork,
  id: string,
  status: PaymentMethodStatus,
  { onlyFrom, description }: { onlyFrom?: PaymentMethodStatus; description?: CardDescription } = {},
): Promise<{ kind: 'moved'; row: PaymentMethodRow } | IllegalMove | undefined> {
  const found = await lockPaymentMethodOfAnyAccount(unit.db, id);
  if (!found) return undefined;
  if (onlyFrom && found.status !== onlyFrom)
    return { kind: 'illegal', reason: `It is ${found.status}, not ${onlyFrom}.` };
  const fault = findIllegalMove(paymentMethodMoves, found.status, status);
  if (fault) return fault;
  const change = { status, ...description, ...(status === 'failed' ? noNumber : {}) };
  const moved = await publishing(unit, 'payment-method.updated', (db) =>
    updatePaymentMethod(db, found, change, unit.now),
  );
  return { kind: 'moved', row: moved };
}

export interface FoundDetails {
  expiration_date: string;
  /** Left out when the card keeps its number. */
  number?: string;
}

/** New details that the account updater found. Undefined when there is no such payment method, or its buyer is erased. */
export async function recordReplacement(
  unit: UnitOfWork,
  id: string,
  { expiration_date, number }: FoundDetails,
  secrets: CardSecrets & { describeCard: (number: string) => CardDescription },
): Promise<{ kind: 'noted'; row: PaymentMethodRow } | IllegalMove | undefined> {
  const found = await lockPaymentMethodOfAnyAccount(unit.db, id);
  if (!found) return undefined;
  if (found.status === 'failed')
    return { kind: 'illegal', reason: 'It gets no new details: failed is final.' };
  // Before an erasure has come to the cards, they are not failed yet.
  if (await isErased(unit, found)) return undefined;
  const card =
    number === undefined
      ? undefined
      : await numberColumns(unit, found, number, secrets.describeCard(number), secrets);
  const changesNumber = card !== undefined && card.fingerprint !== found.fingerprint;
  // The account updater may report the same details again, and then nothing has changed that anybody should be told of.
  const isKnown = changesNumber
    ? found.replacement?.fingerprint === card.fingerprint &&
      found.replacement.expiration_date === expiration_date
    : found.expiration_date === expiration_date;
  if (isKnown) return { kind: 'noted', row: found };
  // A new date does not undo a new number that was found before: both apply.
  const replacement = changesNumber
    ? { expiration_date, ...card }
    : { ...found.replacement, expiration_date };
  const trigger: Trigger = { kind: 'found', changesNumber };
  const changed = { ...found, replacement, replacement_found_at: unit.now };
  return { kind: 'noted', row: await settleReplacement(unit, changed, trigger) };
}

const isErased = async (
  { db }: UnitOfWork,
  { buyer_id: id, merchant_account_id: account }: PaymentMethodRow,
) => id !== null && (await lockBuyer(db, account, { id })) === undefined;

/** How many cards are looked up at once. Those of one account are changed in one transaction. */
const appliedAtOnce = 100;

/**
 * The daily job: applies pending replacements of cards that have expired. Returns the IDs of those cards. One that fails, because
 * its event breaks the contract, stops no other: `onFailed` is told, it stays as it is, and the next run tries it again. A unit of
 * work returns the cards that it has changed.
 */
export async function applyExpiredReplacements(
  db: Db,
  inUnitOfWork: InUnitOfWork<PaymentMethodRow[]>,
  onFailed: (id: string, error: unknown) => void,
): Promise<string[]> {
  const applied: string[] = [];
  const failed: string[] = [];
  const applyTo = async (account: string, ids: readonly string[]): Promise<void> => {
    const changed = await inUnitOfWork(async (unit) => {
      const found = await lockDueReplacements(unit.db, account, ids);
      for (const card of found) await settleReplacement(unit, card, { kind: 'expired' });
      return found;
    });
    applied.push(...changed.map(({ id }) => id));
  };
  for (;;) {
    const due = await listDueReplacements(db, { except: failed, limit: appliedAtOnce });
    for (const [account, own] of groupByAccount(due, (card) => card.merchant_account_id)) {
      const ids = own.map(({ id }) => id);
      try {
        await applyTo(account, ids);
      } catch (error) {
        if (!(error instanceof BrokenEvent)) throw error;
        for (const id of ids)
          await applyTo(account, [id]).catch((fault: unknown) => {
            if (!(fault instanceof BrokenEvent)) throw fault;
            failed.push(id);
            onFailed(id, fault);
          });
      }
    }
    if (due.length < appliedAtOnce) return applied;
  }
}

const settleReplacement = (
  unit: UnitOfWork,
  card: PaymentMethodRow,
  trigger: Trigger,
): Promise<PaymentMethodRow> =>
  publishing(unit, 'payment-method.updated', (db) => updateReplacement(db, card, trigger, unit.now));
