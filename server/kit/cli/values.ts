// Parsers for the values of options and arguments. Commander prints what they refuse.
import { InvalidArgumentError } from 'commander';
import { readUuid } from '../rules/values.ts';

type Parser<T> = (text: string) => T;

export const whole =
  (from: number, to: number): Parser<number> =>
  (text) => {
    if (!/^\d{1,9}$/.test(text) || Number(text) < from || Number(text) > to)
      throw new InvalidArgumentError(`Give a number from ${from} to ${to}.`);
    return Number(text);
  };

const units: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Reads a text such as 30m, 24h or 7d; undefined for others. */
function milliseconds(text: string): number | undefined {
  const [, number, unit = ''] = /^(\d{1,4})([smhd])$/.exec(text) ?? [];
  return number === undefined ? undefined : Number(number) * (units[unit] ?? 0);
}

export const duration: Parser<number> = (text) => {
  const parsed = milliseconds(text);
  if (parsed === undefined) throw new InvalidArgumentError('Give a number and s, m, h or d: 24h');
  return parsed;
};

/** A time, or how long ago it was. Without a time zone it is UTC, like all that commands print. */
export const time: Parser<Date> = (text) => {
  const ago = milliseconds(text);
  const parsed = ago === undefined ? readTime(text) : new Date(Date.now() - ago);
  if (!parsed)
    throw new InvalidArgumentError('Give a time such as 2026-11-15T00:00:00Z, or 24h for 24 hours ago.');
  return parsed;
};

function readTime(text: string): Date | undefined {
  const form = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?)(Z|[+-]\d\d:\d\d)?)?$/i;
  const [, date, clock = '00:00', zone = 'Z'] = form.exec(text) ?? [];
  if (date === undefined) return undefined;
  const parsed = new Date(`${date}T${clock}${zone.toUpperCase()}`);
  // Date reads 30 February as 2 March.
  const isInCalendar = new Date(`${date}T00:00Z`).getUTCDate() === Number(date.slice(-2));
  return isInCalendar && !Number.isNaN(parsed.getTime()) ? parsed : undefined;
}

export const matching =
  (form: RegExp, refusal: string): Parser<string> =>
  (text) => {
    if (!form.test(text)) throw new InvalidArgumentError(refusal);
    return text;
  };

/** Zero bytes cannot be stored. With `u`, characters are counted as the API does: an emoji is one. */
export const name: Parser<string> = matching(/^[^\0]{1,200}$/su, 'Give 1 to 200 characters.');

export const uuid: Parser<string> = (text) => {
  const id = readUuid(text);
  if (id === undefined)
    throw new InvalidArgumentError('It is not an ID. Lists print IDs, and their --search finds references.');
  return id;
};

export const ids = (text: string, before: string[] | undefined): string[] => [...(before ?? []), uuid(text)];

export const collect = (value: string, before: string[] = []): string[] => [...before, value];

/** A parser of scopes that are separated by commas; a repeated option adds to them. `forms` says what is accepted. */
export const scopesLike =
  (isScope: (word: string) => boolean, forms: string) =>
  (text: string, before: string[] = []): string[] => {
    const given = text
      .split(',')
      .map((word) => word.trim())
      .filter(Boolean);
    const wrong = given.filter((word) => !isScope(word));
    if (given.length > 0 && wrong.length === 0) return [...before, ...given];
    throw new InvalidArgumentError(
      `Invalid: ${wrong.join(', ') || 'an empty list'}. Separate by commas: ${forms}.`,
    );
  };
