// What happens to a stored payment method after its creation, each in one transaction and through the domain's rules. The
// approval page, the command line and the daily job all come through here.
import type { Kysely } from 'kysely';
import { hasExpired } from '../domain/cards.ts';
import { replacementAfter, type Trigger } from '../domain/replacement.ts';
import { checkMove, paymentMethodMoves, type PaymentMethodStatus } from '../domain/state-machine.ts';
import type { Db } from './database.ts';
import {
  listWaitingReplacements,
  lockPaymentMethod,
  savePaymentMethod,
  type PaymentMethodRow,
} from './payment-methods.ts';
import type { Replacement, Tables } from './schema.ts';

/** Told of every change, in its transaction. */
export type Changed = (db: Db, row: PaymentMethodRow) => Promise<void>;

const silent: Changed = () => Promise.resolve();

/** Undefined when there is no such method; throws IllegalMove. */
export const movePaymentMethod = (
  db: Kysely<Tables>,
  id: string,
  status: PaymentMethodStatus,
  changed: Changed = silent,
) =>
  db.transaction().execute(async (transaction) => {
    const found = await lockPaymentMethod(transaction, id);
    if (!found) return undefined;
    checkMove(paymentMethodMoves, found.status, status);
    const saved = await savePaymentMethod(transaction, id, { status });
    await changed(transaction, saved);
    return saved;
  });

/** New details that the account updater found. */
export const noteReplacement = (
  db: Kysely<Tables>,
  id: string,
  /** Called inside of the transaction, for it seals the number: a rotation of the key waits for those. */
  details: () => Replacement,
  now: Date,
  changed: Changed = silent,
) =>
  db.transaction().execute(async (transaction) => {
    const found = await lockPaymentMethod(transaction, id);
    if (!found) return undefined;
    const given = details();
    const changesNumber = given.fingerprint !== undefined && given.fingerprint !== found.fingerprint;
    // A new date does not undo a new number that waits: both apply.
    const replacement = changesNumber
      ? given
      : { ...found.replacement, expiration_date: given.expiration_date };
    return settle(transaction, { ...found, replacement }, { kind: 'found', changesNumber }, now, changed);
  });

/**
 * A decline for the card's sake makes a waiting replacement apply. Runs inside the transaction of the decline, which may
 * name a card of another merchant account, for it has only a snapshot: that card is none of its business.
 */
export async function noteDecline(
  db: Db,
  { id, account }: { id: string; account: string },
  reason: string,
  now: Date,
  changed: Changed = silent,
): Promise<PaymentMethodRow | undefined> {
  const found = await lockPaymentMethod(db, id);
  if (found?.merchant_account_id !== account) return undefined;
  const trigger: Trigger = { kind: 'declined', reason };
  if (!replacementAfter(found.has_replacement, trigger).applies) return found;
  return settle(db, found, trigger, now, changed);
}

/** The daily job: waiting replacements of cards that have expired apply. Returns the methods that changed. */
export async function applyExpiredReplacements(
  db: Kysely<Tables>,
  now: Date,
  changed: Changed = silent,
): Promise<PaymentMethodRow[]> {
  const applied: PaymentMethodRow[] = [];
  for (const { id } of await listWaitingReplacements(db)) {
    const method = await db.transaction().execute(async (transaction) => {
      const found = await lockPaymentMethod(transaction, id);
      const due =
        found?.has_replacement && found.expiration_date !== null && hasExpired(found.expiration_date, now);
      return due ? settle(transaction, found, { kind: 'expired' }, now, changed) : undefined;
    });
    if (method) applied.push(method);
  }
  return applied;
}

async function settle(
  db: Db,
  method: PaymentMethodRow,
  trigger: Trigger,
  now: Date,
  changed: Changed,
): Promise<PaymentMethodRow> {
  const { hasReplacement, applies } = replacementAfter(method.has_replacement, trigger);
  const waiting = hasReplacement ? JSON.stringify(method.replacement) : null;
  const saved = await savePaymentMethod(
    db,
    method.id,
    applies
      ? { ...method.replacement, has_replacement: false, replacement: null, last_replaced_at: now }
      : { has_replacement: hasReplacement, replacement: waiting },
  );
  await changed(db, saved);
  return saved;
}
