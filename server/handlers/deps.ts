// What every handler receives beside its input. Handlers know nothing of Express: (input, deps) → {status, body}.
import type { OperationId, Result } from '../../generated/operations.ts';
import type { CursorCodec } from '../domain/cursor.ts';
import type { GiftCardProvider } from '../domain/gift-cards.ts';
import type { PaymentMethodStatus } from '../domain/state-machine.ts';
import type { Vault } from '../domain/vault.ts';
import type { Store } from '../store/index.ts';
import type { PaymentMethodRow } from '../store/payment-methods.ts';

/** What is the same for every request. */
export interface Services {
  environment: 'sandbox' | 'production';
  cursors: CursorCodec;
  vault: Vault;
  fingerprint: (number: string) => string;
  giftCards: GiftCardProvider;
  /** How long the gift card provider may take for a whole call. */
  giftCardMilliseconds: number;
  /** What a card number leads to, where it does not simply succeed. */
  cardOutcome: (
    number: string,
  ) => { status: PaymentMethodStatus; cardType: string; issuer: string } | undefined;
}

export interface Deps extends Services {
  /** Bound to the request's transaction, if it is a write. */
  store: Store;
  /** Tells subscribers of a new payment method, in the transaction that stores it. */
  announceCreated: (row: PaymentMethodRow) => Promise<void>;
  publicUrl: string;
  now: () => Date;
  caller: { keyPairId: string; merchantAccountIds: readonly string[] };
  /** The merchant account to act upon; `all` is every one that the caller reaches. */
  selection: { kind: 'none' } | { kind: 'one'; id: string } | { kind: 'all' };
  /** The contract's own example answer, for operations that are designed but not built yet. */
  example: <Id extends OperationId>(id: Id) => Result<Id>;
}

/** The one account of an operation whose contract says `x-merchant-scope: one`. */
export function accountOf({ selection }: Pick<Deps, 'selection'>): string {
  if (selection.kind !== 'one') throw new Error('This operation acts on one merchant account.');
  return selection.id;
}

/** The accounts of a list, as its store wants them: undefined is all. */
export function accountsOf({
  selection,
  caller,
}: Pick<Deps, 'selection' | 'caller'>): readonly string[] | undefined {
  if (selection.kind === 'one') return [selection.id];
  return caller.merchantAccountIds.length === 0 ? undefined : caller.merchantAccountIds;
}

/** What a cursor is bound to of the merchant account: to one, or to all that the caller reaches. */
export const selectionKey = ({ selection, caller }: Pick<Deps, 'selection' | 'caller'>): string =>
  selection.kind === 'one'
    ? `one:${selection.id}`
    : JSON.stringify([selection.kind, ...[...caller.merchantAccountIds].sort()]);
