// Parsers for the values of options and arguments. What they refuse is collected by faults.ts, so that all faults of a call
// are reported at once.
import { isUuid } from '../domain/uuid.ts';
import { list, Refused } from './output.ts';

type Parser<T> = (text: string) => T;

export const whole =
  (from: number, to: number, refusal: string): Parser<number> =>
  (text) => {
    if (!/^\d{1,9}$/.test(text) || Number(text) < from || Number(text) > to) throw new Refused(refusal);
    return Number(text);
  };

/** How many rows to list. */
export const limit = (to: number): Parser<number> => whole(1, to, `--limit is a number from 1 to ${to}.`);

export const time =
  (option: string): Parser<Date> =>
  (text) => {
    const parsed = new Date(text);
    if (Number.isNaN(parsed.getTime()) || !/^\d{4}-\d\d-\d\d/.test(text))
      throw new Refused(`${option} is a time such as 2026-11-15T00:00:00Z.`);
    return parsed;
  };

/** Text that has this form. */
export const matching =
  (form: RegExp, refusal: string): Parser<string> =>
  (text) => {
    if (!form.test(text)) throw new Refused(refusal);
    return text;
  };

/** Zero bytes cannot be stored. */
export const name: Parser<string> = matching(/^[^\0]{1,200}$/s, 'A name has 1 to 200 characters.');

export const uuid: Parser<string> = (text) => {
  if (!isUuid(text)) throw new Refused(`${text} is not an ID.`);
  return text;
};

/** Words separated by commas, each of which must be one. `refusal` gets those that are not. */
export const words =
  (isWord: (word: string) => boolean, refusal: (wrong: string[]) => string): Parser<string[]> =>
  (text) => {
    const given = list(text);
    const wrong = given.filter((word) => !isWord(word));
    if (given.length === 0 || wrong.length > 0) throw new Refused(refusal(wrong));
    return given;
  };
