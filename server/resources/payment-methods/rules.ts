// Facts that follow from a card number and its expiration date alone.
import creditCardType from 'credit-card-type';
import type { CardScheme } from '../card-schemes/rules.ts';

export function passesLuhn(number: string): boolean {
  let sum = 0;
  for (let place = 0; place < number.length; place += 1) {
    const digit = Number(number[number.length - 1 - place]);
    const weighted = place % 2 === 1 ? digit * 2 : digit;
    // Stryker disable next-line AssignmentOperator: minus the sum is a multiple of ten whenever the sum is
    sum += weighted > 9 ? weighted - 9 : weighted;
  }
  return sum % 10 === 0;
}

/** Looks in each group of digits and across separators. */
export const holdsCardNumber = (text: string): boolean =>
  [...(text.match(/\d+/g) ?? []), ...(text.match(/\d(?:[._:-]{0,3}\d)+/g) ?? [])].some((run) => {
    const digits = run.replace(/\D/g, '');
    for (let length = 13; length <= 19; length += 1)
      for (let start = 0; start + length <= digits.length; start += 1)
        if (passesLuhn(digits.slice(start, start + length))) return true;
    return false;
  });

/** Leaves the last four digits of each run that may be a card number. */
export const maskRuns = (text: string): string =>
  text.replace(/\d(?:[._:-]{0,3}\d)+/g, (run) =>
    holdsCardNumber(run) ? `[number]${run.replace(/\D/g, '').slice(-4)}` : run,
  );

/** What people write between the groups of a number, and characters that nobody sees. */
const isSeparator = (text: string) => /^[\p{Cf}\p{Mn}]*(?:[\s./_:|\p{Pd}][\p{Cf}\p{Mn}]*){0,3}$/u.test(text);

const isDigit = (codePoint: number) => /\p{Nd}/u.test(String.fromCodePoint(codePoint));

/** Unicode has the digits of every script in a row from zero to nine. */
const asciiDigits = (digits: string): string =>
  digits.replace(/[^0-9]/gu, (digit) => {
    const codePoint = digit.codePointAt(0) ?? 0;
    let before = 0;
    while (isDigit(codePoint - before - 1)) before += 1;
    return String(before % 10);
  });

// Most texts are, and Unicode classes are slower.
const isAscii = (text: string) => /^[ -~]*$/.test(text);

/**
 * Where a text has card numbers in it: neighbouring groups of digits of any script that are 13 to 19 together, of a known range.
 * Does not look inside a group, because texts of people have long numbers for other reasons.
 */
function* findCardNumbers(text: string): Generator<{ from: number; to: number }> {
  const groups = [...text.matchAll(isAscii(text) ? /\d+/g : /\p{Nd}+/gu)];
  const end = (group: RegExpExecArray) => group.index + group[0].length;
  let past = 0;
  for (const [first, { index: from }] of groups.entries()) {
    if (from < past) continue;
    let number = '';
    for (let at = first; at < groups.length && number.length <= 19; at += 1) {
      const [before, group] = [groups[at - 1], groups[at]];
      if (!group || (at > first && before && !isSeparator(text.slice(end(before), group.index)))) break;
      number += asciiDigits(group[0]);
      if (number.length < 13 || number.length > 19) continue;
      if (!passesLuhn(number) || creditCardType(number).length === 0) continue;
      past = end(group);
      yield { from, to: past };
      break;
    }
  }
}

export const mentionsCardNumber = (text: string): boolean => !findCardNumbers(text).next().done;

export function maskCardNumbers(text: string): string {
  let masked = '';
  let past = 0;
  for (const { from, to } of findCardNumbers(text)) {
    masked += `${text.slice(past, from)}[number]`;
    past = to;
  }
  return masked + text.slice(past);
}

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

// Maps the library's names to those of the specification.
const names: Record<string, CardScheme> = {
  'american-express': 'amex',
  'diners-club': 'diners-club',
  discover: 'discover',
  elo: 'elo',
  hiper: 'hipercard',
  hipercard: 'hipercard',
  jcb: 'jcb',
  maestro: 'maestro',
  mastercard: 'mastercard',
  mir: 'mir',
  unionpay: 'unionpay',
  visa: 'visa',
};

/** The scheme according to BIN ranges; `other` when no scheme or more than one matches. */
export function schemeOf(number: string): CardScheme {
  const [only, ...others] = creditCardType(number);
  return (others.length === 0 && only && names[only.type]) || 'other';
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

export interface Flag {
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

/** Of the sandbox's page on which a buyer approves a card; the public URL goes in front. */
export const approvalPath = (paymentMethodId: string): string => `/sandbox/approvals/${paymentMethodId}`;

/** Each status with those that may follow it. */
export const paymentMethodMoves = {
  processing: ['succeeded', 'failed'],
  buyer_approval_required: ['processing', 'succeeded', 'failed'],
  succeeded: [],
  failed: [],
} as const satisfies Record<string, readonly string[]>;

export type PaymentMethodStatus = keyof typeof paymentMethodMoves;
