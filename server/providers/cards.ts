// The interfaces of card providers: one describes cards (from a BIN table), one verifies them (an acquirer or a gateway).
import type { components } from '../../generated/types.ts';
import { unusable } from '../resources/payment-methods/rules.ts';
import { withDeadline } from '../rules/async.ts';

type Status = components['schemas']['PaymentMethodStatus'];

export interface Card {
  number: string;
  /** MM/YY */
  expiration_date: string;
  security_code: string | null;
}

export interface CardDescription {
  card_type: components['schemas']['CardType'] | null;
  card_issuer_name: string | null;
}

/** From a table at hand, such as a BIN table: it is called inside transactions, so it must not wait for anything. */
export type DescribeCard = (number: string) => CardDescription;

interface CardVerdict extends Partial<CardDescription> {
  /** `buyer_approval_required` leads to a page that only the sandbox has; production takes it for a failure. */
  status: Status;
}

/** Who asks a provider, and about what. */
export interface ProviderContext {
  merchantAccountId: string;
  /** Of the API's request, as in the log; a command makes one. */
  requestId: string;
  /** Of the card that is verified. It stays the same when the provider is asked again, so it is the provider's idempotency key. */
  paymentMethodId?: string;
  /** Whether an operator asks again. The security code is null then, because it is not stored. */
  isRepeated?: boolean;
}

export type VerifyCard = (
  card: Card,
  /** Aborts at the deadline. */
  signal: AbortSignal,
  context: ProviderContext,
) => Promise<CardVerdict>;

export const noDescription: CardDescription = { card_type: null, card_issuer_name: null };

interface Judgement extends Required<CardVerdict> {
  /** Why the verifier failed; null when it did not. */
  verification_error: string | null;
}

interface JudgeOptions {
  context: ProviderContext;
  describe: DescribeCard;
  verify: VerifyCard | undefined;
  hasApprovals: boolean;
  now: Date;
  onFailure?: (error: unknown) => void;
}

/**
 * What becomes of a card: `failed` if its own digits say so, otherwise what the verifier says. Without a verifier it
 * succeeds. A verifier that fails leaves the card `processing`, so that nothing is lost and it can be asked again.
 */
export async function judgeCard(
  card: Card,
  { context, describe, verify, hasApprovals, now, onFailure }: JudgeOptions,
): Promise<Judgement> {
  const description = { ...describe(card.number), verification_error: null };
  if (unusable(card, now)) return { ...description, status: 'failed' };
  if (!verify) return { ...description, status: 'succeeded' };
  try {
    const verdict = await withDeadline((signal) => verify(card, signal, context));
    const { status, card_type = description.card_type } = verdict;
    const { card_issuer_name = description.card_issuer_name } = verdict;
    if (!(status === 'buyer_approval_required' ? hasApprovals : statuses.includes(status)))
      throw new Error(
        `the card verifier returned the status ${JSON.stringify(status)}, which cannot be used`,
      );
    if (
      !cardTypes.includes(card_type) ||
      !(card_issuer_name === null || typeof card_issuer_name === 'string')
    )
      throw new Error('the card verifier returned a description that cannot be used');
    // Nothing else of the verdict: it comes from outside.
    return { status, card_type, card_issuer_name, verification_error: null };
  } catch (error) {
    onFailure?.(error);
    return { ...description, status: 'processing', verification_error: storableReason(error, card) };
  }
}

/** The reason as it is stored: without what the provider was given, and without digits that may be a card number. */
function storableReason(error: unknown, { number, security_code }: Card): string {
  const message = error instanceof Error ? error.message : 'it threw something that is no Error';
  const hidden = [number, ...(security_code === null ? [] : [security_code])].reduce(
    (text, secret) => text.replace(new RegExp(secret.split('').join('[\\W_]*'), 'g'), '[redacted]'),
    message,
  );
  // PostgreSQL cannot store U+0000.
  return hidden
    .replace(/\d(?:[\W_]{0,4}\d){7,}/g, '[redacted]')
    .replace(/\p{Cc}/gu, ' ')
    .slice(0, 200);
}

const cardTypes: readonly unknown[] = [
  'credit',
  'debit',
  'prepaid',
  null,
] satisfies CardDescription['card_type'][];
const statuses: readonly string[] = ['succeeded', 'failed', 'processing'] satisfies Status[];
