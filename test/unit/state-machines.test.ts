// The state machines row by row, written from the specification and not from the code.
import { describe, expect, it } from 'vitest';
import { findIllegalMove } from '../../server/kit/rules/state-machine.ts';
import {
  replacementAfter,
  type Trigger,
  paymentMethodMoves,
} from '../../server/resources/payment-methods/rules.ts';
import { transactionMoves } from '../../server/resources/transactions/rules.ts';

const legal = (rows: string) =>
  rows
    .trim()
    .split('\n')
    .flatMap((row) => {
      const [from = '', to = ''] = row.split('→').map((part) => part.trim());
      return to.split('|').map((state) => `${from} → ${state.trim()}`);
    });

describe.each([
  {
    name: 'payment method status',
    table: paymentMethodMoves,
    states: ['processing', 'buyer_approval_required', 'succeeded', 'failed'],
    moves: legal(`
      processing → succeeded | failed
      buyer_approval_required → processing | succeeded | failed`),
  },
  {
    name: 'transaction status',
    table: transactionMoves,
    states:
      `processing buyer_approval_pending authorization_succeeded authorization_failed authorization_declined capture_pending
      capture_succeeded authorization_void_pending authorization_voided`.split(/\s+/),
    moves: legal(`
      processing → buyer_approval_pending | authorization_succeeded | authorization_failed | authorization_declined
      buyer_approval_pending → processing | authorization_succeeded | authorization_failed | authorization_declined
      authorization_succeeded → capture_pending | capture_succeeded | authorization_void_pending | authorization_voided
      capture_pending → capture_succeeded | authorization_succeeded
      authorization_void_pending → authorization_voided | authorization_succeeded`),
  },
])('$name', ({ table, states, moves }) => {
  it('has exactly the states of the specification', () => {
    expect(Object.keys(table).sort()).toEqual([...states].sort());
  });

  for (const from of states) {
    for (const to of states) {
      const row = `${from} → ${to}`;
      it(`${row} is ${moves.includes(row) ? 'legal' : 'illegal'}`, () => {
        const fault = findIllegalMove(table, from, to);
        expect(fault).toEqual(
          moves.includes(row) ? undefined : { kind: 'illegal', reason: expect.any(String) as string },
        );
      });
    }
  }

  it('an illegal move says what is legal', () => {
    const [from = ''] = states;
    const allowed = moves.filter((row) => row.startsWith(`${from} →`)).map((row) => row.split('→ ')[1]);
    expect(findIllegalMove(table, from, from)?.reason).toContain(
      `from ${from} it may become ${allowed.join(', ')}`,
    );
    const final = 'failed' in table ? 'failed' : 'authorization_failed';
    expect(findIllegalMove(table, final, from)?.reason).toContain('is final');
  });
});

describe('the replacement flag', () => {
  const declined = (reason: string): Trigger => ({ kind: 'declined', reason });
  const rows: [string, boolean, Trigger, { hasReplacement: boolean; applies: boolean }][] = [
    [
      'false, new details are found → true, nothing applies yet',
      false,
      { kind: 'found', changesNumber: true },
      { hasReplacement: true, applies: false },
    ],
    [
      'true, the card has expired → false, applied',
      true,
      { kind: 'expired' },
      { hasReplacement: false, applies: true },
    ],
    [
      'only the expiration date changed → false, applied',
      true,
      { kind: 'found', changesNumber: false },
      { hasReplacement: false, applies: true },
    ],
    [
      'found, and only the date changed → false, applied',
      false,
      { kind: 'found', changesNumber: false },
      { hasReplacement: false, applies: true },
    ],
    [
      'true, declined: canceled → false, applied',
      true,
      declined('canceled_payment_method'),
      { hasReplacement: false, applies: true },
    ],
    [
      'true, declined: expired → false, applied',
      true,
      declined('expired_payment_method'),
      { hasReplacement: false, applies: true },
    ],
    [
      'true, declined: unavailable → false, applied',
      true,
      declined('unavailable_payment_method'),
      { hasReplacement: false, applies: true },
    ],
    [
      'true, declined: unknown → false, applied',
      true,
      declined('unknown_payment_method'),
      { hasReplacement: false, applies: true },
    ],
    [
      'true, declined for another reason → true',
      true,
      declined('insufficient_funds'),
      { hasReplacement: true, applies: false },
    ],
    [
      'false, declined → false, nothing to apply',
      false,
      declined('expired_payment_method'),
      { hasReplacement: false, applies: false },
    ],
    [
      'false, the card has expired → false, nothing to apply',
      false,
      { kind: 'expired' },
      { hasReplacement: false, applies: false },
    ],
  ];
  it.each(rows)('%s', (_name, before, trigger, after) => {
    expect(replacementAfter(before, trigger)).toEqual(after);
  });
});
