// The search of the docs. It has nothing of a browser, so that a test can ask it what readers ask.
import MiniSearch from 'minisearch';
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
    // Only if no word begins so: otherwise `curl` finds `url`. Two swapped letters are two changes.
    const found =
      exact.length > 0 ? exact : index.search(query, { fuzzy: (term) => (term.length < 5 ? 1 : 2) });
    return fewOfEachPage(found.flatMap(({ id }) => entries[id as number] ?? [])).slice(0, mostResults);
  };
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
