// The interfaces of card providers: one describes cards (from a BIN table), one verifies them (an acquirer or a gateway). What they
// return is not trusted.
import type { components } from '../../generated/types.ts';
import { hasCardNumber } from '../kit/rules/card-numbers.ts';
import { isStorable } from '../kit/rules/values.ts';
import { unusable } from '../resources/payment-methods/rules.ts';
import { callProvider, cleanError, longestText, shortText, type NoteCall } from './call.ts';
import { createMask } from './mask.ts';

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

/**
 * From a table at hand, such as a BIN table: it is called inside transactions, so it must not wait for anything. Undefined for a
 * number that the table does not have.
 */
export type DescribeCard = (number: string) => Partial<CardDescription> | undefined;

interface CardVerdict extends Partial<CardDescription> {
  /** `buyer_approval_required` leads to a page that only the sandbox has; production takes it for a failure. */
  status: Status;
}

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

type Warn = (message: string, error: Error) => void;

/** Never fails: a card that nobody can describe has no description. */
export const guardDescriber =
  (describe: DescribeCard, note?: NoteCall) =>
  (number: string, warn: Warn): CardDescription => {
    try {
      const given: unknown = describe(number) ?? noDescription;
      if (typeof given !== 'object' || given === null) throw new Error('it returned no object');
      if ('then' in given) {
        // Nobody else awaits it, and its rejection would end the process.
        Promise.resolve(given).catch(() => undefined);
        throw new Error('it returned a promise');
      }
      const description = readDescription(given, [number]);
      note?.('describeCard', 'answered');
      return description;
    } catch (error) {
      note?.('describeCard', 'failed');
      warn('describeCard failed; the card has no type and issuer', cleanError(error, [number]));
      return noDescription;
    }
  };

/** Throws if it cannot be used. A name with one of the secrets in it counts as none. */
function readDescription(
  given: Partial<Record<keyof CardDescription, unknown>>,
  secrets: readonly string[],
): CardDescription {
  const { card_type = null, card_issuer_name = null } = given;
  if (!isCardType(card_type)) throw new Error('card_type is neither null nor one of the contract');
  if (!isIssuerName(card_issuer_name))
    throw new Error(`card_issuer_name is neither null nor a name of at most ${longestText} characters`);
  const isClean = card_issuer_name === null || createMask(secrets)(card_issuer_name) === card_issuer_name;
  return { card_type, card_issuer_name: isClean ? card_issuer_name : null };
}

const cardTypes: readonly unknown[] = [
  'credit',
  'debit',
  'prepaid',
  null,
] satisfies CardDescription['card_type'][];
const isCardType = (given: unknown): given is CardDescription['card_type'] => cardTypes.includes(given);

const isIssuerName = (given: unknown): given is string | null =>
  given === null ||
  (typeof given === 'string' &&
    given.length <= longestText &&
    isStorable(JSON.stringify(given)) &&
    !hasCardNumber(given, 'whole'));

interface GuardOptions {
  /** Whether there is a page on which a buyer approves a card. */
  hasApprovals: boolean;
  note?: NoteCall | undefined;
}

/** `description` is that of the card where the verifier has none. */
export const guardVerifier =
  (verify: VerifyCard, { hasApprovals, note }: GuardOptions) =>
  (card: Card, context: ProviderContext, description: CardDescription): Promise<Required<CardVerdict>> => {
    const { number, security_code: code } = card;
    const secrets = code === null ? [number] : [number, code];
    return callProvider(
      { provider: 'verifyCard', secrets, note },
      (signal) => verify(card, signal, context),
      (verdict) => {
        // Nothing else of the verdict.
        const given = Object(verdict) as CardVerdict;
        const { status, card_type = description.card_type } = given;
        const { card_issuer_name = description.card_issuer_name } = given;
        if (!(status === 'buyer_approval_required' ? hasApprovals : statuses.includes(status)))
          throw new Error(
            `the card verifier returned the status ${JSON.stringify(status)}, which cannot be used`,
          );
        return { status, ...readDescription({ card_type, card_issuer_name }, secrets) };
      },
    );
  };

const statuses: readonly string[] = ['succeeded', 'failed', 'processing'] satisfies Status[];

interface Validation extends Required<CardVerdict> {
  /** Why the verifier failed; null when it did not. */
  verification_error: string | null;
}

interface ValidationOptions {
  context: ProviderContext;
  providers: {
    describeCard: ReturnType<typeof guardDescriber>;
    verifyCard: ReturnType<typeof guardVerifier> | undefined;
  };
  now: Date;
  warn: Warn;
}

/**
 * What becomes of a card: `failed` if its own digits say so, otherwise what the verifier says. Without a verifier it
 * succeeds. A verifier that fails leaves the card `processing`, so that nothing is lost and it can be asked again.
 */
export async function validateCard(
  card: Card,
  { context, providers: { describeCard, verifyCard }, now, warn }: ValidationOptions,
): Promise<Validation> {
  const description = describeCard(card.number, warn);
  const validated = { ...description, verification_error: null };
  if (unusable(card, now)) return { ...validated, status: 'failed' };
  if (!verifyCard) return { ...validated, status: 'succeeded' };
  try {
    return { ...validated, ...(await verifyCard(card, context, description)) };
  } catch (error) {
    const failure = error instanceof Error ? error : new Error('it failed');
    warn('the card verifier failed; the card stays in processing', failure);
    return { ...validated, status: 'processing', verification_error: storableReason(failure.message) };
  }
}

/** Also without digits that may be another card number. */
const storableReason = (message: string): string =>
  shortText(message.replace(/\d(?:[\W_]{0,4}\d){7,}/g, '[redacted]'));
