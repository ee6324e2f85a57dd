// State machines as tables: each state with the states that may follow it.
import { OperatorFault } from '../operator-fault.ts';

export class IllegalMove extends OperatorFault {}

export function checkMove<State extends string>(
  table: Readonly<Record<State, readonly State[]>>,
  from: State,
  to: State,
): void {
  if (table[from].includes(to)) return;
  const legal =
    table[from].length === 0 ? `${from} is final` : `from ${from} it may become ${table[from].join(', ')}`;
  throw new IllegalMove(`It cannot become ${to}: ${legal}.`);
}

export const paymentMethodMoves = {
  processing: ['succeeded', 'failed'],
  buyer_approval_required: ['processing', 'succeeded', 'failed'],
  succeeded: [],
  failed: [],
} as const satisfies Record<string, readonly string[]>;

export type PaymentMethodStatus = keyof typeof paymentMethodMoves;

export const transactionMoves = {
  processing: [
    'buyer_approval_pending',
    'authorization_succeeded',
    'authorization_failed',
    'authorization_declined',
  ],
  buyer_approval_pending: [
    'processing',
    'authorization_succeeded',
    'authorization_failed',
    'authorization_declined',
  ],
  authorization_succeeded: [
    'capture_pending',
    'capture_succeeded',
    'authorization_void_pending',
    'authorization_voided',
  ],
  capture_pending: ['capture_succeeded', 'authorization_succeeded'],
  authorization_void_pending: ['authorization_voided', 'authorization_succeeded'],
  authorization_failed: [],
  authorization_declined: [],
  capture_succeeded: [],
  authorization_voided: [],
} as const satisfies Record<string, readonly string[]>;

export type TransactionStatus = keyof typeof transactionMoves;
