// A table for people, which fits the terminal.

const gap = '  ';
/** A column that must be narrower than this is left out: nobody can read it. */
const readable = 8;
/** Less important columns are left out before the others become narrower than this. */
const comfortable = 16;
/** The same where a text matters: room for `connect ECONNREFUSED`. */
const comfortableText = 21;
/** A column of at most this width, such as a time, is never cut. */
const short = 12;

export interface TableOptions {
  /** Without a number, everything is shown in full. */
  columns?: number | undefined;
  /** The less important columns, which are left out first, in this order. */
  least?: readonly string[];
  /** A text such as an error matters more than IDs and wide columns of `least`: those are cut, or left out, before it is. */
  textMatters?: boolean;
}

/** Lines of at most `columns`. */
export function tableLines(
  rows: readonly (readonly string[])[],
  { columns, least = [], textMatters = false }: TableOptions,
): string[] {
  const names = rows[0] ?? [];
  const all = names.map((name, index) => ({
    name,
    index,
    natural: Math.max(...rows.map((cells) => widthOf(cells[index]))),
  }));
  const isWide = columns !== undefined && widthWith(all.map(inFull)) > columns;
  const isCut = (column: Column) => textMatters && isWide && column.natural === idWidth;
  const narrow = all.map((column) => (isCut(column) ? { ...column, natural: cutId } : column));
  const shown = columns === undefined ? all.map(inFull) : fitting(narrow, { columns, least, textMatters });
  const lines = rows.map((cells) => {
    const line = shown.map(({ index, width }) => {
      const cell = cells[index] ?? '';
      const isId = isCut(all[index] as Column) && cell.length === idWidth;
      return pad(isId ? shortId(cell) : cut(cell, width), width);
    });
    return cut(line.join(gap).trimEnd(), columns ?? Infinity);
  });
  const missing = names.filter((name) => !shown.some((column) => column.name === name));
  const cutNames = shown
    .filter(({ index, width }) => width < (all[index] as Column).natural)
    .map(({ name }) => name);
  const left = [
    ...(missing.length > 0 ? [`Not shown: ${missing.join(', ')}.`] : []),
    ...(cutNames.length > 0 ? [`Cut: ${cutNames.join(', ')}.`] : []),
  ];
  return left.length === 0 ? lines : [...lines, '', `${left.join(' ')} Widen the terminal, or add --wide.`];
}

interface Column {
  name: string;
  index: number;
  natural: number;
}
type Shown = Column & { width: number };
type Room = Required<TableOptions> & { columns: number };

/** A UUID, and what is left of it. IDs of the same minute begin alike. */
const idWidth = 36;
const cutId = 9;
const shortId = (id: string): string => `${id.slice(0, 4)}…${id.slice(-4)}`;

const widthWith = (shown: readonly Shown[]): number =>
  shown.reduce((sum, { width }) => sum + width, gap.length * (shown.length - 1));

const inFull = (column: Column): Shown => ({ ...column, width: column.natural });

/** The status is cut only if something important would have to be left out otherwise: several begin with the same word. */
function fitting(all: readonly Column[], room: Room): Shown[] {
  const { least } = room;
  const shown = narrowed(all, room, ['status', 'state']);
  const isComplete = all.every(({ name }) => least.includes(name) || shown.some((one) => one.name === name));
  return isComplete ? shown : narrowed(all, room, []);
}

/**
 * The widest columns become narrower, and those that do not fit are left out: the least important first, then the last ones.
 * Those in `whole` stay as they are, and so does the first, because it names the record in other commands.
 */
function narrowed(
  all: readonly Column[],
  { columns, least, textMatters }: Room,
  whole: readonly string[],
): Shown[] {
  const capped = (cap: number) =>
    left.map((column): Shown => {
      const { name, index, natural } = column;
      const isWhole = index === 0 || natural <= short || whole.includes(name);
      return { ...column, width: isWhole ? natural : Math.min(natural, cap) };
    });
  const fits = (cap: number) => widthWith(capped(cap)) <= columns;
  let left = all;
  const isWide = (name: string) => all.some((column) => column.name === name && column.natural > short);
  for (const name of least)
    if (!fits(!textMatters ? comfortable : isWide(name) ? Infinity : comfortableText))
      left = left.filter((column) => column.name !== name);
  while (left.length > 1 && !fits(readable)) left = left.slice(0, -1);
  let cap = Math.max(...left.map(({ natural }) => natural));
  while (cap > readable && !fits(cap)) cap -= 1;
  return capped(cap);
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
