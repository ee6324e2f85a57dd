/** The words in which the tables of the specification are written down. */
import type { Json } from './document.ts';

export type Values = readonly (string | number)[];

export interface Rule {
  type: 'string' | 'integer' | 'boolean' | 'array' | 'object' | 'one of' | 'string or integer' | 'any';
  nullable: boolean;
  /** The field need not be there. Every other field is always there. */
  optional: boolean;
  /** The allowed values as whole sets, one of which must be declared; undefined stands for "any value". */
  values: readonly (Values | undefined)[];
  /** The set may grow: a new value is an addition, not a contradiction. */
  extensible?: boolean;
  /** Keywords that must be there with exactly this value. */
  keywords: Json;
  /** Keywords that may be there in addition, with this value or (`anything`) with one that passes the samples. */
  may: Json;
  accepts: readonly string[];
  refuses: readonly string[];
  items?: Rule;
  fields?: Record<string, Rule>;
  /** Other properties than `fields` are allowed. */
  open: boolean;
  branches?: readonly Rule[];
}

/** In `may`: any value of the keyword, as long as the samples pass. */
export const anything = Symbol('anything');

export const largestAmount = 9_007_199_254_740_991;

export function words(text: string): string[] {
  return text.trim().split(/\s+/);
}

function rule(type: Rule['type'], more: Partial<Rule> = {}): Rule {
  return {
    ...{ type, nullable: false, optional: false, values: [undefined] },
    ...{ keywords: {}, may: {}, accepts: [], refuses: [], open: false },
    ...more,
  };
}

export function orNull(of: Rule): Rule {
  return { ...of, nullable: true };
}

/** Not always there. */
export function optional(of: Rule): Rule {
  return { ...of, optional: true };
}

/** Where the keyword of a rule is not settled by the specification: allowed, not demanded. */
export function perhaps(of: Rule, may: Json): Rule {
  return { ...of, may: { ...of.may, ...may } };
}

export function withDefault(of: Rule, value: unknown): Rule {
  return { ...of, keywords: { ...of.keywords, default: value } };
}

export const string = (keywords: Json = {}): Rule => rule('string', { keywords });
export const uuid = (): Rule => string({ format: 'uuid' });
export const uri = (keywords: Json = {}): Rule => string({ format: 'uri', ...keywords });
export const dateTime = (): Rule => string({ format: 'date-time' });
export const boolean = (): Rule => rule('boolean');
export const integer = (keywords: Json = {}): Rule => rule('integer', { keywords });
export const any = (): Rule => rule('any', { nullable: true });
export const stringOrInteger = (): Rule => rule('string or integer');

/** In the smallest unit of the currency. The format may repeat what the limits say. */
export const amount = (): Rule =>
  perhaps(integer({ minimum: 0, maximum: largestAmount }), { format: 'int64' });

/** How often something happened. */
export const count = (): Rule => perhaps(integer(), { minimum: 0, format: 'int32' });

/** The size of a page. The format may repeat what the limits say. */
export const pageSize = (largest: number): Rule =>
  perhaps(integer({ minimum: 1, maximum: largest }), { format: 'int32' });

export const constant = (value: string): Rule => rule('string', { values: [[value]] });
export const oneOf = (values: Values): Rule => rule('string', { values: [values] });

/** One of several sets of values, undefined being "not restricted". */
export function eitherOf(type: 'string' | 'integer', ...values: (Values | undefined)[]): Rule {
  return rule(type, { values });
}

export const extensible = (of: Rule): Rule => ({ ...of, extensible: true });

/** A string whose limits are told by what passes and what does not. */
export function sampled(accepts: readonly string[], refuses: readonly string[], keywords: Json = {}): Rule {
  const may = { minLength: anything, maxLength: anything, pattern: anything };
  return rule('string', { keywords, may, accepts, refuses });
}

/** A name or identifier that the caller chooses: 1 to 200 characters without U+0000, all others allowed. */
export function freeString(characters = ':/?#[]@!$&\'()*+,;="<>\\%\t'): Rule {
  const accepts = ['a', 'a b é', 'a\nb', '😀', '*', 'x'.repeat(200), characters];
  const refuses = ['', 'a\u0000b', '\u0000', 'a\u0000', '\u0000a', 'x'.repeat(201)];
  return { ...sampled(accepts, refuses, { minLength: 1, maxLength: 200 }), may: { pattern: anything } };
}

const lettersOnly = (letters: string, others: string[]): Rule => ({
  ...string(),
  may: { minLength: anything, maxLength: anything, pattern: anything },
  accepts: [letters, ...others],
});

/** Two-letter ISO country in an answer; a pattern may say so. */
export const country = (): Rule => lettersOnly('DE', ['US']);
/** Three-letter ISO 4217 currency in an answer; a pattern may say so. */
export const currency = (): Rule => lettersOnly('EUR', ['USD']);

export const arrayOf = (items: Rule, keywords: Json = {}): Rule => rule('array', { items, keywords });
export const object = (fields: Record<string, Rule>): Rule => rule('object', { fields });
export const openObject = (): Rule => rule('object', { fields: {}, open: true });
/** One of several objects. */
export const eitherObject = (...branches: Rule[]): Rule => rule('one of', { branches });

/** The same field in every one of these names. */
export function each(names: string, of: () => Rule): Record<string, Rule> {
  return Object.fromEntries(words(names).map((name) => [name, of()]));
}
