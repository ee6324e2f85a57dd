// A table for people, which fits the terminal.

const gap = '  ';
/** A column that must be narrower than this is left out: nobody can read it. */
const readable = 8;

/** Lines of at most `columns`; without a number, everything is shown in full. */
export function tableLines(rows: readonly (readonly string[])[], columns: number | undefined): string[] {
  const names = rows[0] ?? [];
  const natural = names.map((_, index) => Math.max(...rows.map((cells) => widthOf(cells[index]))));
  const widths = columns === undefined ? natural : fitting(natural, columns);
  const lines = rows.map((cells) => {
    const line = widths.map((width, index) => pad(cut(cells[index] ?? '', width), width));
    return cut(line.join(gap).trimEnd(), columns ?? Infinity);
  });
  const missing = names.slice(widths.length);
  return missing.length === 0
    ? lines
    : [...lines, '', `Not shown: ${missing.join(', ')}. Widen the terminal, or add --json.`];
}

/** The widest columns become narrower, and the last ones are left out. The first stays: it names the record in other commands. */
function fitting(natural: readonly number[], columns: number): number[] {
  const capped = (count: number, cap: number) =>
    natural.slice(0, count).map((width, index) => (index === 0 ? width : Math.min(width, cap)));
  const total = (widths: readonly number[]) =>
    widths.reduce((sum, width) => sum + width, gap.length * (widths.length - 1));
  let count = natural.length;
  while (count > 1 && total(capped(count, readable)) > columns) count -= 1;
  let cap = Math.max(...natural);
  while (cap > readable && total(capped(count, cap)) > columns) cap -= 1;
  return capped(count, cap);
}

const segmenter = new Intl.Segmenter('en');
const graphemes = (text: string): string[] => [...segmenter.segment(text)].map(({ segment }) => segment);

// Terminals show these in two columns.
const wide =
  /[\p{Emoji_Presentation}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u3000-\u303f\uff01-\uff60\uffe0-\uffe6]/u;

const widthOf = (text = ''): number =>
  graphemes(text).reduce((sum, grapheme) => sum + (wide.test(grapheme) ? 2 : 1), 0);

const pad = (text: string, width: number): string => text + ' '.repeat(Math.max(0, width - widthOf(text)));

function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let kept = '';
  let used = 1;
  for (const grapheme of graphemes(text)) {
    used += widthOf(grapheme);
    if (used > width) break;
    kept += grapheme;
  }
  return `${kept}…`;
}
