// Parsers for the values of options and arguments. What they refuse is collected by faults.ts, so that all faults of a call
// are reported at once.
import { isUuid } from '../rules/uuid.ts';
import { OperatorFault } from '../operator-fault.ts';
import { list } from './output.ts';

type Parser<T> = (text: string) => T;

export const whole =
  (from: number, to: number, refusal: string): Parser<number> =>
  (text) => {
    if (!/^\d{1,9}$/.test(text) || Number(text) < from || Number(text) > to) throw new OperatorFault(refusal);
    return Number(text);
  };

/** How many rows to list. */
export const limit = (to: number): Parser<number> => whole(1, to, `--limit is a number from 1 to ${to}.`);

const units: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Of a text such as 30m, 24h or 7d; undefined for others. */
function milliseconds(text: string): number | undefined {
  const [, number, unit = ''] = /^(\d{1,4})([smhd])$/.exec(text) ?? [];
  return number === undefined ? undefined : Number(number) * (units[unit] ?? 0);
}

export const duration =
  (option: string): Parser<number> =>
  (text) => {
    const parsed = milliseconds(text);
    if (parsed === undefined) throw new OperatorFault(`${option} is a number and s, m, h or d: 24h`);
    return parsed;
  };

/** A time, or how long ago it was. */
export const time =
  (option: string): Parser<Date> =>
  (text) => {
    const ago = milliseconds(text);
    const parsed = ago === undefined ? new Date(text) : new Date(Date.now() - ago);
    if (ago === undefined && (Number.isNaN(parsed.getTime()) || !/^\d{4}-\d\d-\d\d/.test(text)))
      throw new OperatorFault(`${option} is a time such as 2026-11-15T00:00:00Z, or 24h for 24 hours ago.`);
    return parsed;
  };

/** Text that has this form. */
export const matching =
  (form: RegExp, refusal: string): Parser<string> =>
  (text) => {
    if (!form.test(text)) throw new OperatorFault(refusal);
    return text;
  };

/** Zero bytes cannot be stored. With `u`, characters are counted as the API does: an emoji is one. */
export const name: Parser<string> = matching(/^[^\0]{1,200}$/su, 'A name has 1 to 200 characters.');

export const uuid: Parser<string> = (text) => {
  if (!isUuid(text)) throw new OperatorFault(`${text} is not an ID.`);
  return text;
};

/** Scopes or permissions separated by commas. `refusal` gets those that have a wrong form. */
export const scopes =
  (
    isScope: (word: string) => boolean,
    refusal: (wrong: string[]) => string,
    faultOf: (scope: string) => string | undefined = () => undefined,
  ): Parser<string[]> =>
  (text) => {
    const given = list(text);
    const wrong = given.filter((word) => !isScope(word));
    // A space or a semicolon in a word was meant to separate two of them.
    const hint = wrong.some((word) => /[^\w.*-]/.test(word)) ? ' Separate scopes by commas.' : '';
    const faults = given.filter((word) => isScope(word)).flatMap((scope) => faultOf(scope) ?? []);
    if (given.length === 0 || wrong.length > 0) faults.unshift(refusal(wrong) + hint);
    if (faults.length > 0) throw new OperatorFault(faults.join('\n'));
    return given;
  };
