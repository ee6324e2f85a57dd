// The search of the docs. It has nothing of a browser, so that a test can ask it what readers ask.
import MiniSearch, { type SearchOptions } from 'minisearch';

/** What the search of the docs finds. */
export interface Entry {
  title: string;
  /** The page that it is on. */
  place: string;
  href: string;
  text: string;
  /** Words that readers search for and that the text does not have. */
  keywords?: string | undefined;
  /** Its score is multiplied by this. */
  weight: number;
  /** Who reads it, if not those who call the API. It comes after what is for them. */
  mark?: string | undefined;
}

const mostResults = 12;
const mostOfOnePage = 2;

/** They are in every text, and a question has them too. */
const noise = new Set(
  'a an and are be by can do does for get has have how i if in is it me mean means my of on one or please should the there this to we what when where which why will with you your'.split(
    ' ',
  ),
);

// `external_identifier` is one word, and is also found by either of its parts; so is `C#`, which is not found by a C.
const tokenize = (text: string) =>
  (text.match(/(?<![\p{L}\p{N}_])\p{L}#|[\p{L}\p{N}_]+/gu) ?? []).flatMap((word) => [
    word,
    ...(word.includes('_') ? word.split('_') : []),
  ]);

const processTerm = (term: string) => (noise.has(term.toLowerCase()) ? null : term.toLowerCase());

export function createSearch(entries: Entry[]): (query: string) => Entry[] {
  const index = new MiniSearch<Entry & { id: number }>({
    fields: ['title', 'place', 'text', 'keywords'],
    tokenize,
    processTerm,
    searchOptions: {
      boost: { title: 4, keywords: 4, place: 2 },
      boostDocument: (id: number) => entries[id]?.weight ?? 1,
      prefix: true,
      // Two letters of a longer word may be wrong, or swapped.
      fuzzy: (word) => (word.length > 4 ? 2 : false),
      maxFuzzy: 2,
      weights: { fuzzy: 0.1, prefix: 0.375 },
    },
  });
  index.addAll(entries.map((entry, id) => ({ id, ...entry })));
  const ask = (query: string, options: SearchOptions) => {
    const found = index.search(query, options).flatMap(({ id }) => entries[id as number] ?? []);
    return [...found.filter(({ mark }) => !mark), ...found.filter(({ mark }) => mark)];
  };
  return (query) => {
    const exact = ask(query, { combineWith: 'AND', fuzzy: false });
    const found = [
      ...exact,
      ...ask(query, { combineWith: 'AND' }),
      // Where a page has all words, those with one of them are noise.
      ...(exact.some(({ mark }) => !mark) ? [] : ask(query, { combineWith: 'OR', fuzzy: false })),
    ];
    const named = found.filter((entry) => isNamed(entry, query));
    return fewOfEachPage([...new Set([...named.slice(0, 3), ...found])]).slice(0, mostResults);
  };
}

const name = (text: string) => text.trim().toLowerCase().replaceAll('_', '-');

/** The name of an operation, section, event, header or field. A single plain word such as `status` is not taken for a name, because guides say more about it. */
const isNamed = ({ title, place }: Entry, query: string) =>
  /[^a-z0-9]/i.test(query.trim()) && [title, place].some((text) => name(text) === name(query));

function fewOfEachPage(found: Entry[]): Entry[] {
  const times = new Map<string, number>();
  return found.filter(({ href }) => {
    const [page = ''] = href.split('#');
    const shown = times.get(page) ?? 0;
    times.set(page, shown + 1);
    return shown < mostOfOnePage;
  });
}

const excerptLength = 140;

/** The words around the first hit, in parts: each second one is a hit. */
export function excerpt(text: string, query: string): string[] {
  const words = tokenize(query).flatMap((word) => processTerm(word) || []);
  if (words.length === 0) return [text.slice(0, excerptLength)];
  const hit = new RegExp(`((?<![\\p{L}\\p{N}])(?:${words.join('|')})[\\p{L}\\p{N}]*)`, 'giu');
  const start = Math.max(0, text.search(hit) - 40);
  return `${start > 0 ? '…' : ''}${text.slice(start, start + excerptLength)}`.split(hit);
}
