// Masks values in texts of a provider. The card number, the security code and the PIN that it was given may come back in its errors
// and messages: as they are, with separators between their characters, or as JSON and URLs escape them.
import { hide, type Hidden } from '../kit/rules/card-numbers.ts';

export type Mask = (text: string) => string;

/** A UTF-16 unit of a text, and where it is spelled. */
interface Letter {
  unit: string;
  from: number;
  to: number;
}

/** Fewer letters and digits than this are found in every text. Such a value is masked only where it is a word of its own. */
const fewest = 3;

export function createMask(values: readonly string[]): Mask {
  const wanted = [...new Set(values)].filter((value) => value !== '').map((value) => asTheyAre(value));
  return (text) =>
    hide(
      text,
      [asTheyAre, unescaped].flatMap((read) => findAll(read(text), wanted)),
    );
}

const isWord = ({ unit }: Letter): boolean => /[\p{L}\p{N}]/u.test(unit);
const textOf = (letters: readonly Letter[]) => letters.map(({ unit }) => unit).join('');

function findAll(letters: readonly Letter[], wanted: readonly Letter[][]): Hidden[] {
  const words = letters.filter(isWord);
  const [all, joined] = [textOf(letters), textOf(words)];
  return wanted.flatMap((value) => {
    const own = value.filter(isWord);
    if (own.length >= fewest) return find(words, joined, textOf(own));
    const isApart = (at: number) => {
      const [before, after] = [letters[at - 1], letters[at + value.length]];
      return own.length === 0 || !((before && isWord(before)) || (after && isWord(after)));
    };
    return find(letters, all, textOf(value), isApart);
  });
}

function find(
  letters: readonly Letter[],
  text: string,
  value: string,
  counts: (at: number) => boolean = () => true,
): Hidden[] {
  const found: Hidden[] = [];
  for (let at = text.indexOf(value); at !== -1; at = text.indexOf(value, at + 1)) {
    const [first, last, before] = [letters[at], letters[at + value.length - 1], found.at(-1)];
    if (!first || !last || !counts(at)) continue;
    // Values may overlap: then they are one piece.
    if (before && first.from < before.to) before.to = last.to;
    else found.push({ from: first.from, to: last.to, mask: '[redacted]' });
  }
  return found;
}

const asTheyAre = (text: string): Letter[] => text.split('').map((unit, at) => letter(unit, at, at + 1));

/** `\u0041`, `\"`, `%41`. JSON inside JSON has several backslashes. */
const escapes = /\\+(?:u([0-9a-f]{4})|(["/bfnrt]))?|((?:%[0-9a-f]{2})+)|[^]/gi;

function unescaped(text: string): Letter[] {
  return [...text.matchAll(escapes)].flatMap(({ 0: spelled, 1: unit, 2: short, 3: bytes, index }) => {
    const meant =
      unit !== undefined
        ? String.fromCharCode(Number.parseInt(unit, 16))
        : short !== undefined
          ? short.replace(/\w/, ' ')
          : bytes !== undefined
            ? Buffer.from(bytes.replaceAll('%', ''), 'hex').toString()
            : spelled;
    return meant.split('').map((one) => letter(one, index, index + spelled.length));
  });
}

/** Without the difference of capitals, and of digits of other widths, unless that would change the length. */
function letter(unit: string, from: number, to: number): Letter {
  const lower = unit.normalize('NFKC').toLowerCase();
  return { unit: lower.length === 1 ? lower : unit, from, to };
}
