// What follows from a card number and its expiration date alone, when a replacement of a card applies, and which status may
// follow which.
import { createHmac } from 'node:crypto';
import creditCardType from 'credit-card-type';
import { passesLuhn, patterns } from '../../kit/rules/card-numbers.ts';
import type { DigestKeys } from '../../kit/secrets/derive-keys.ts';
import { schemeNames, type CardScheme } from '../card-schemes/rules.ts';

/** A card is valid until the end of its month. A month that does not exist counts as past. */
export function hasExpired(expirationDate: string, now: Date): boolean {
  const [month = 0, year = 0] = expirationDate.split('/').map(Number);
  if (month < 1 || month > 12) return true;
  return now.getTime() >= Date.UTC(2000 + year, month, 1);
}

/** Why a card cannot be used, known without a verifier; undefined when it can. */
export function unusable(
  { number, expiration_date }: { number: string; expiration_date: string },
  now: Date,
): 'the check digit is wrong' | 'the card has expired' | undefined {
  if (!passesLuhn(number)) return 'the check digit is wrong';
  return hasExpired(expiration_date, now) ? 'the card has expired' : undefined;
}

export const binOf = (number: string): string => number.slice(0, number.length >= 16 ? 8 : 6);

export const lastFour = (number: string): string => number.slice(-4);

/** Tells whether two cards of an account are the same. Keyed, so that it cannot be reversed by trying all card numbers. */
export const fingerprintOf = (keys: DigestKeys, number: string): string =>
  createHmac('sha256', keys('fingerprints')).update(number).digest('hex');

/** Where the library has another name than the specification. */
const renamed: Readonly<Record<string, string>> = { 'american-express': 'amex', hiper: 'hipercard' };

/** `other` when no scheme or more than one matches. Takes 20 µs. */
export function askLibrary(number: string): CardScheme {
  const [only, ...others] = creditCardType(number);
  const name = only && others.length === 0 ? (renamed[only.type] ?? only.type) : '';
  return Object.hasOwn(schemeNames, name) ? (name as CardScheme) : 'other';
}

/** Where another scheme may begin, in order. The library looks at the first eight digits. */
const ranges = [0, ...patterns.flatMap(({ least, most }) => [least, most + 1])]
  .toSorted((one, other) => one - other)
  .map((from) => ({ from, scheme: askLibrary(String(from).padStart(8, '0')) }));

export function schemeOf(number: string): CardScheme {
  const first = Number(number.slice(0, 8));
  return ranges.findLast(({ from }) => from <= first)?.scheme ?? 'other';
}

// The rules of `has_replacement`, row by row of the specification's table: when new card details that the account updater
// found are applied.
/** Decline reasons that apply a pending replacement. */
export const replacingDeclines = [
  'canceled_payment_method',
  'expired_payment_method',
  'unavailable_payment_method',
  'unknown_payment_method',
] as const;

export type Trigger =
  { kind: 'found'; changesNumber: boolean } | { kind: 'expired' } | { kind: 'declined'; reason: string };

interface Flag {
  hasReplacement: boolean;
  /** Whether the new details apply now and last_replaced_at is updated. */
  applies: boolean;
}

export function replacementAfter(hasReplacement: boolean, trigger: Trigger): Flag {
  switch (trigger.kind) {
    case 'found':
      // If only the expiration date changed, the new details apply at once.
      return trigger.changesNumber
        ? { hasReplacement: true, applies: false }
        : { hasReplacement: false, applies: true };
    case 'expired':
      return { hasReplacement: false, applies: hasReplacement };
    case 'declined': {
      const replaces = (replacingDeclines as readonly string[]).includes(trigger.reason);
      return replaces
        ? { hasReplacement: false, applies: hasReplacement }
        : { hasReplacement, applies: false };
    }
  }
}

/** The path of the sandbox's page on which a buyer approves a card; the public URL goes in front. */
export const approvalPath = (paymentMethodId: string): string => `/sandbox/approvals/${paymentMethodId}`;

/** Each status with those that may follow it. */
export const paymentMethodMoves = {
  processing: ['succeeded', 'failed'],
  buyer_approval_required: ['processing', 'succeeded', 'failed'],
  succeeded: [],
  failed: [],
} as const satisfies Record<string, readonly string[]>;

export type PaymentMethodStatus = keyof typeof paymentMethodMoves;
