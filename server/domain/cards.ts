// What a card number and its date say by themselves.
import { createHmac } from 'node:crypto';
import creditCardType from 'credit-card-type';
import type { CardScheme } from './card-schemes.ts';

export function passesLuhn(number: string): boolean {
  let sum = 0;
  for (let place = 0; place < number.length; place += 1) {
    const digit = Number(number[number.length - 1 - place]);
    const weighted = place % 2 === 1 ? digit * 2 : digit;
    sum += weighted > 9 ? weighted - 9 : weighted;
  }
  return sum % 10 === 0;
}

/** A card is good until the end of its month. A month that does not exist has passed. */
export function hasExpired(expirationDate: string, now: Date): boolean {
  const [month = 0, year = 0] = expirationDate.split('/').map(Number);
  if (month < 1 || month > 12) return true;
  return now.getTime() >= Date.UTC(2000 + year, month, 1);
}

export const binOf = (number: string): string => number.slice(0, number.length >= 16 ? 8 : 6);

export const lastFour = (number: string): string => number.slice(-4);

// The library's names, where they differ from the specification's.
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

/** The scheme by the BIN ranges; `other` when they do not tell, or tell of several. */
export function schemeOf(number: string): CardScheme {
  const [only, ...others] = creditCardType(number);
  return (others.length === 0 && only && names[only.type]) || 'other';
}

/** The same card has the same fingerprint, and nobody without the key can try numbers against it. */
export const fingerprintOf = (key: Buffer, number: string): string =>
  createHmac('sha256', key).update(number).digest('hex');
