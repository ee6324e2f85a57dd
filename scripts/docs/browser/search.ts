// The search of the docs. It has nothing of a browser, so that a test can ask it what readers ask.
import MiniSearch, { type SearchResult } from 'minisearch';
import type { Entry } from './entry.ts';

const mostResults = 12;
const mostOfOnePage = 2;

/** They are in every text, and a question has them too. */
const noise = new Set(
  'a an and by do does for get how i in is it my of on or the to what which with'.split(' '),
);

// `external_identifier` is one word, and is also found by either of its parts.
const tokenize = (text: string) =>
  text.split(/[^\p{L}\p{N}_]+/u).flatMap((word) => [word, ...(word.includes('_') ? word.split('_') : [])]);

const processTerm = (term: string) => {
  const word = term.toLowerCase();
  return noise.has(word) ? null : word;
};

export function createSearch(entries: Entry[]): (query: string) => Entry[] {
  const index = new MiniSearch<Entry & { id: number }>({
    fields: ['title', 'place', 'text', 'keywords'],
    tokenize,
    processTerm,
    searchOptions: {
      boost: { title: 4, keywords: 4, place: 2 },
      boostDocument: (id: number) => entries[id]?.weight ?? 1,
      prefix: true,
      combineWith: 'AND',
    },
  });
  index.addAll(entries.map((entry, id) => ({ id, ...entry })));
  return (query) => {
    const exact = index.search(query);
    // Only if no word begins so: otherwise `curl` finds `url`.
    const found = exact.length > 0 ? exact : index.search(query, { fuzzy: 2, filter: isMisspelt });
    return fewOfEachPage(found.flatMap(({ id }) => entries[id as number] ?? [])).slice(0, mostResults);
  };
}

/** One letter wrong, or two swapped, in a word that is long enough to tell. Otherwise nonsense finds something. */
const isMisspelt = ({ terms, queryTerms }: SearchResult) =>
  queryTerms.every((asked) =>
    terms.some((term) => term.startsWith(asked) || (asked.length > 4 && isNear(asked, term))),
  );

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
