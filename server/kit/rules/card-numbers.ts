// Finds card numbers in texts. One scanner reads the text once, and finds groups of ASCII digits that belong together; of these,
// one of two rules says which are a card number.
//
// `inside`: any 13 to 19 digits whose check digit is right, also inside a longer number. For what callers send as an identifier and
// a log or a trace would show (`X-Request-ID`, `traceparent`). Every tenth number looks like that, but to mask it does no harm there.
//
// `whole`: groups that are a number of a known scheme as a whole. For texts that people or other systems wrote (imported
// transactions, answers of webhook receivers), where long numbers that are no cards must be kept.
import creditCardType from 'credit-card-type';

type Rule = 'inside' | 'whole';

const [shortest, longest] = [13, 19];

export function* findCardNumbers(text: string, rule: Rule): Generator<Hidden> {
  for (const run of findRuns(text))
    if (run.digits.length >= shortest) yield* rule === 'inside' ? findInside(run) : findWhole(run);
}

export const hasCardNumber = (text: string, rule: Rule): boolean => !findCardNumbers(text, rule).next().done;

export const maskCardNumbers = (text: string, rule: Rule): string => hide(text, findCardNumbers(text, rule));

export const passesLuhn = (number: string): boolean =>
  createLuhn(Array.from(number, Number))(0, number.length);

/** Digits with nothing but separators between them, and where they are in the text. */
interface Run {
  digits: number[];
  at: number[];
}

function* findRuns(text: string): Generator<Run> {
  let run: Run = { digits: [], at: [] };
  let past = 0;
  for (const { 0: group, index } of text.matchAll(/[0-9]+/g)) {
    if (!isSeparator(text.slice(past, index))) {
      yield run;
      run = { digits: [], at: [] };
    }
    past = index + group.length;
    for (let at = index; at < past; at += 1) {
      run.digits.push(Number(text[at]));
      run.at.push(at);
    }
  }
  yield run;
}

/** What people write between the groups of a number. Characters that nobody sees do not count. */
const isSeparator = (text: string): boolean =>
  /^[\s./_:|\p{Pd}]{0,3}$/u.test(text.replace(/[\p{Cf}\p{Mn}]+/gu, ''));

/** Leaves the last four digits of the run. */
function* findInside({ digits, at }: Run): Generator<Hidden> {
  const passes = createLuhn(digits);
  for (let to = shortest; to <= digits.length; to += 1)
    for (let from = to - shortest; from >= 0 && from >= to - longest; from -= 1)
      if (passes(from, to)) {
        yield { from: at[0] ?? 0, to: (at.at(-1) ?? 0) + 1, mask: `[number]${digits.slice(-4).join('')}` };
        return;
      }
}

function* findWhole({ digits, at }: Run): Generator<Hidden> {
  const passes = createLuhn(digits);
  const startsGroup = (index: number) => index === 0 || at[index] !== (at[index - 1] ?? 0) + 1;
  const findEnd = (from: number): number | undefined => {
    if (!startsGroup(from) || !isKnown(digits, from)) return undefined;
    for (let to = from + shortest; to <= Math.min(from + longest, digits.length); to += 1)
      if (startsGroup(to) && passes(from, to)) return to;
    return undefined;
  };
  for (let from = 0; from + shortest <= digits.length;) {
    const to = findEnd(from);
    if (to !== undefined) yield { from: at[from] ?? 0, to: (at[to - 1] ?? 0) + 1, mask: '[number]' };
    from = to ?? from + 1;
  }
}

/** Says of any part of the digits whether its check digit is right, by sums that are made once. */
function createLuhn(digits: readonly number[]): (from: number, to: number) => boolean {
  const sum = (parity: number): number[] => {
    const sums = [0];
    for (const [index, digit] of digits.entries()) {
      const weighted = index % 2 === parity ? digit : 2 * digit - (digit > 4 ? 9 : 0);
      sums.push((sums[index] ?? 0) + weighted);
    }
    return sums;
  };
  // Every second digit is doubled, counted from the last one backwards, so it depends on the place of the last one.
  const [lastIsEven, lastIsOdd] = [sum(0), sum(1)];
  return (from, to) => {
    const sums = to % 2 === 1 ? lastIsEven : lastIsOdd;
    return ((sums[to] ?? 0) - (sums[from] ?? 0)) % 10 === 0;
  };
}

/** The first eight digits of numbers of known schemes. Asking `creditCardType` takes 20 µs, which are seconds for a long text. */
export const patterns = Object.values(creditCardType.types)
  .flatMap((type) => creditCardType.getTypeInfo(type).patterns)
  .map((pattern) => {
    const [least = 0, most = least] = [pattern].flat();
    const scale = 10 ** (8 - String(least).length);
    return { least: least * scale, most: (most + 1) * scale - 1 };
  });

function isKnown(digits: readonly number[], from: number): boolean {
  let first = 0;
  for (let index = from; index < from + 8; index += 1) first = 10 * first + (digits[index] ?? 0);
  return patterns.some(({ least, most }) => first >= least && first <= most);
}

export interface Hidden {
  from: number;
  to: number;
  mask: string;
}

/** Shows what begins before `end`. A piece that begins there is shown as its mask, whole; pieces that overlap become one. */
export function hide(text: string, pieces: Iterable<Hidden>, end = text.length): string {
  let shown = '';
  let past = 0;
  for (const { from, to, mask } of [...pieces].sort((one, other) => one.from - other.from)) {
    if (from >= end) break;
    if (from >= past) shown += text.slice(past, from) + mask;
    past = Math.max(past, to);
  }
  return shown + text.slice(past, end);
}
