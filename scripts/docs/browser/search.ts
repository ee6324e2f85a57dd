// The search of the docs. It has nothing of a browser, so that a test can ask it what readers ask.
import MiniSearch, { type Query } from 'minisearch';
import type { Entry } from './entry.ts';

const mostResults = 12;
const mostOfOnePage = 2;
/** If fewer texts for those who integrate have every word of the query, those that have some are shown too. */
const fewest = 3;
const mostOfOneName = 3;

/** They are in every text, and a question has them too. */
const noise = new Set(
  'a an and are be by can do does for get has have how i if in is it me mean means my of on one or please should the there this to we what when where which why will with you your'.split(
    ' ',
  ),
);

/** What readers write for a word of ours. */
const synonyms: Record<string, string> = {
  authentification: 'authentication',
  decimal: 'amount',
  cvv: 'security_code',
  cvc: 'security_code',
};

// `external_identifier` is one word, and is also found by either of its parts.
const tokenize = (text: string) =>
  text.split(/[^\p{L}\p{N}_]+/u).flatMap((word) => [word, ...(word.includes('_') ? word.split('_') : [])]);

/** `retries` and `retried` are `retry`, `statuses` is `status`, `refunded` is `refund`, `safely` is `safe`. */
function stem(word: string): string {
  const [, short = word] = /^(.{3,}(?:ss|us|x|ch|sh))es$/.exec(word) ?? /^(.{3,}[^siu])s$/.exec(word) ?? [];
  const base = short
    .replace(/^(.{4,})ly$/, '$1')
    .replace(/^(.{3,})(ie|ied)$/, '$1y')
    .replace(/^(.{4,}?)e?(d|ing)$/, '$1');
  return base.length > 4 ? base.replace(/e$/, '') : base;
}

const written = (term: string) => {
  const word = term.toLowerCase();
  return noise.has(word) ? null : word;
};

/** Also as it is written, so that it is found before it is typed to its end. */
const indexed = (term: string) => {
  const word = written(term);
  return word && [...new Set([word, stem(word)])];
};

const asked = (term: string) => {
  const word = written(term);
  const base = word && stem(word);
  return base && (synonyms[base] ?? base);
};

export function createSearch(entries: Entry[]): (query: string) => Entry[] {
  const index = new MiniSearch<Entry & { id: number }>({
    fields: ['title', 'place', 'text', 'keywords'],
    tokenize,
    processTerm: indexed,
    searchOptions: {
      processTerm: asked,
      boost: { title: 4, keywords: 4, place: 2 },
      boostDocument: (id: number) => entries[id]?.weight ?? 1,
      prefix: true,
      combineWith: 'AND',
    },
  });
  index.addAll(entries.map((entry, id) => ({ id, ...entry })));
  /** In place of each word of the query, the words of the docs that may be meant. */
  const corrected = (query: string): Query => ({
    combineWith: 'AND',
    queries: tokenize(query)
      .flatMap((word) => written(word) ?? [])
      .filter(Boolean)
      .map((word) => {
        // As it is written: the stem of `tokne` has lost a letter.
        const near = index.search(word, { fuzzy: 2, processTerm: written }).flatMap(({ terms }) => terms);
        return { combineWith: 'OR', queries: [...new Set(near)].filter((term) => isMeant(word, term)) };
      }),
  });
  const ask = (query: string | Query, combineWith: 'AND' | 'OR' = 'AND') =>
    index.search(query, { combineWith }).flatMap(({ id }) => entries[id as number] ?? []);
  const find = (query: string) => {
    const exact = ask(query);
    // Only if no word begins so: otherwise `curl` finds `url`.
    const all = exact.length > 0 ? exact : ask(corrected(query));
    const best = all.filter(({ weight }) => weight >= 1);
    if (best.length >= fewest) return all;
    // The more words it has, and the rarer they are, the higher is a hit. Those who run the service find theirs third.
    const some = ask(query, 'OR');
    return [...best, ...some.slice(0, 2), ...all, ...some];
  };
  return (query) => {
    const results = [...new Set(find(query))];
    const named = results.filter((entry) => isNamed(entry, query)).slice(0, mostOfOneName);
    return fewOfEachPage([...new Set([...named, ...results])]).slice(0, mostResults);
  };
}

const name = (text: string) => text.trim().toLowerCase().replaceAll('_', '-');

/** The name of an operation, section, event, header or field. A single plain word such as `status` is not taken for a name, because guides say more about it. */
const isNamed = ({ title, place }: Entry, query: string) =>
  /[^a-z0-9]/i.test(query.trim()) && [title, place].some((text) => name(text) === name(query));

/** One letter wrong, or two swapped, in a word that is long enough to tell. Otherwise nonsense finds something. */
const isMeant = (word: string, term: string) =>
  term.startsWith(word) || (word.length > 4 && isNear(word, term));

function isNear(one: string, other: string): boolean {
  const differs = (letter: string, at: number) => letter !== other[at];
  const first = Array.from(one).findIndex(differs);
  const [restOfOne, restOfOther] = [one.slice(first), other.slice(first)];
  const [a = '', b = ''] = restOfOne;
  return (
    restOfOne.slice(1) === restOfOther ||
    restOfOne === restOfOther.slice(1) ||
    restOfOne.slice(1) === restOfOther.slice(1) ||
    b + a + restOfOne.slice(2) === restOfOther
  );
}

function fewOfEachPage(found: Entry[]): Entry[] {
  const times = new Map<string, number>();
  return found.filter(({ href }) => {
    const page = pageOf(href);
    const shown = times.get(page) ?? 0;
    times.set(page, shown + 1);
    return shown < mostOfOnePage;
  });
}

/** In the reference each operation counts as a page: `reference.html#/tag/operation#field`. */
const pageOf = (href: string) =>
  href
    .split('#')
    .slice(0, href.startsWith('reference') ? 2 : 1)
    .join('#');

const excerptLength = 140;

/** The words around the first hit, in parts: each second one is a hit. */
export function excerpt(text: string, query: string): string[] {
  const words = tokenize(query)
    .flatMap((word) => asked(word) ?? [])
    .filter(Boolean)
    // `retry` is `retries` too.
    .map((word) => word.replace(/y$/, '[yi]'));
  if (words.length === 0) return [text.slice(0, excerptLength)];
  const hit = new RegExp(`((?<![\\p{L}\\p{N}])(?:${words.join('|')})[\\p{L}\\p{N}]*)`, 'giu');
  const start = Math.max(0, text.search(hit) - 40);
  return `${start > 0 ? '…' : ''}${text.slice(start, start + excerptLength)}`.split(hit);
}
