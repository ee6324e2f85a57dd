// Finds card numbers in texts, by one of two rules.
//
// Any run of 13 to 19 digits whose check digit is right, also inside a longer run: for what callers send as an identifier and a log
// or a trace would show (`X-Request-ID`, `traceparent`). Every tenth number looks like that, but to mask it does no harm there.
//
// Groups of digits that are a number of a known scheme as a whole: for texts that people or other systems wrote (imported
// transactions, answers of webhook receivers), where long numbers that are no cards must be kept.
import creditCardType from 'credit-card-type';

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
export const hasLuhnRun = (text: string): boolean =>
  [...(text.match(/\d+/g) ?? []), ...(text.match(/\d(?:[._:-]{0,3}\d)+/g) ?? [])].some((run) => {
    const digits = run.replace(/\D/g, '');
    for (let length = 13; length <= 19; length += 1)
      for (let start = 0; start + length <= digits.length; start += 1)
        if (passesLuhn(digits.slice(start, start + length))) return true;
    return false;
  });

/** Leaves the last four digits of each run that may be a card number. */
export const maskLuhnRuns = (text: string): string =>
  text.replace(/\d(?:[._:-]{0,3}\d)+/g, (run) =>
    hasLuhnRun(run) ? `[number]${run.replace(/\D/g, '').slice(-4)}` : run,
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
function* findKnownCardNumbers(text: string): Generator<{ from: number; to: number }> {
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

export const hasKnownCardNumber = (text: string): boolean => !findKnownCardNumbers(text).next().done;

export function maskKnownCardNumbers(text: string): string {
  let masked = '';
  let past = 0;
  for (const { from, to } of findKnownCardNumbers(text)) {
    masked += `${text.slice(past, from)}[number]`;
    past = to;
  }
  return masked + text.slice(past);
}
