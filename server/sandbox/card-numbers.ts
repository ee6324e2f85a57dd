// Card numbers that choose what happens, all of them published test numbers of the schemes. The contract's introduction
// documents them; the mock follows the same table.
import type { PaymentMethodStatus } from '../domain/state-machine.ts';

export interface SandboxCard {
  status: PaymentMethodStatus;
  cardType: 'credit' | 'debit';
}

export const sandboxIssuer = 'Sandbox Bank';

export const sandboxCards: Readonly<Record<string, SandboxCard>> = {
  '4111111111111111': { status: 'succeeded', cardType: 'credit' },
  '5555555555554444': { status: 'succeeded', cardType: 'credit' },
  '378282246310005': { status: 'succeeded', cardType: 'credit' },
  '4012888888881881': { status: 'processing', cardType: 'credit' },
  '5105105105105100': { status: 'buyer_approval_required', cardType: 'debit' },
};
