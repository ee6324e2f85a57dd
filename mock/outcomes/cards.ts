// What a card number and its date say by themselves. The server's rules (server/domain/cards.ts) are out of the mock's reach;
// test/mock/cards.test.ts holds the two equal, number by number.
import { createHash } from 'node:crypto';
import creditCardType from 'credit-card-type';
import type { components } from '../../generated/types.ts';

type Scheme = components['schemas']['CardScheme'];

export function passesLuhn(number: string): boolean {
  const digits = Array.from(number, Number).reverse();
  const sum = digits.reduce((total, digit, place) => {
    const weighted = place % 2 === 1 ? digit * 2 : digit;
    return total + (weighted > 9 ? weighted - 9 : weighted);
  }, 0);
  return sum % 10 === 0;
}

/** A card is good until the end of its month. A month that does not exist has passed. */
export function hasExpired(expirationDate: string, now: Date): boolean {
  const [month = 0, year = 0] = expirationDate.split('/').map(Number);
  return month < 1 || month > 12 || now.getTime() >= Date.UTC(2000 + year, month, 1);
}

export const binOf = (number: string): string => number.slice(0, number.length >= 16 ? 8 : 6);

// Where the library's name is not the contract's.
const renamed: Record<string, Scheme> = { 'american-express': 'amex', hiper: 'hipercard' };
const shared = [
  ...['diners-club', 'discover', 'elo', 'hipercard', 'jcb', 'maestro', 'mastercard', 'mir'],
  ...['unionpay', 'visa'],
];

export function schemeOf(number: string): Scheme {
  const [only, ...others] = creditCardType(number);
  if (!only || others.length > 0) return 'other';
  return renamed[only.type] ?? (shared.includes(only.type) ? (only.type as Scheme) : 'other');
}

/** The same card has the same fingerprint. No secret: the mock has none to keep. */
export const fingerprintOf = (number: string): string =>
  createHash('sha256').update(`mock ${number}`).digest('hex');
