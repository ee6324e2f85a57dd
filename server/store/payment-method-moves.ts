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

/** Undefined when there is no such method; throws IllegalMove. */
export const movePaymentMethod = (db: Kysely<Tables>, id: string, status: PaymentMethodStatus) =>
  db.transaction().execute(async (transaction) => {
    const found = await lockPaymentMethod(transaction, id);
    if (!found) return undefined;
    checkMove(paymentMethodMoves, found.status, status);
    return savePaymentMethod(transaction, id, { status });
  });

/** New details that the account updater found. */
export const noteReplacement = (db: Kysely<Tables>, id: string, replacement: Replacement, now: Date) =>
  db.transaction().execute(async (transaction) => {
    const found = await lockPaymentMethod(transaction, id);
    if (!found) return undefined;
    const changesNumber = replacement.number_sealed !== undefined;
    return settle(transaction, { ...found, replacement }, { kind: 'found', changesNumber }, now);
  });

/** A decline for the card's sake makes a waiting replacement apply. Runs inside the transaction of the decline. */
export async function noteDecline(
  db: Db,
  id: string,
  reason: string,
  now: Date,
): Promise<PaymentMethodRow | undefined> {
  const found = await lockPaymentMethod(db, id);
  return found?.has_replacement ? settle(db, found, { kind: 'declined', reason }, now) : found;
}

/** The daily job: waiting replacements of cards that have expired apply. Returns the methods that changed. */
export async function applyExpiredReplacements(db: Kysely<Tables>, now: Date): Promise<PaymentMethodRow[]> {
  const applied: PaymentMethodRow[] = [];
  for (const { id } of await listWaitingReplacements(db)) {
    const changed = await db.transaction().execute(async (transaction) => {
      const found = await lockPaymentMethod(transaction, id);
      const due =
        found?.has_replacement && found.expiration_date !== null && hasExpired(found.expiration_date, now);
      return due ? settle(transaction, found, { kind: 'expired' }, now) : undefined;
    });
    if (changed) applied.push(changed);
  }
  return applied;
}

function settle(db: Db, method: PaymentMethodRow, trigger: Trigger, now: Date): Promise<PaymentMethodRow> {
  const { hasReplacement, applies } = replacementAfter(method.has_replacement, trigger);
  if (applies) {
    return savePaymentMethod(db, method.id, {
      ...method.replacement,
      has_replacement: false,
      replacement: null,
      last_replaced_at: now,
    });
  }
  const replacement = hasReplacement ? JSON.stringify(method.replacement) : null;
  return savePaymentMethod(db, method.id, { has_replacement: hasReplacement, replacement });
}
