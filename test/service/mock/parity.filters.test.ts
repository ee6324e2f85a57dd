// Mock and service find the same transactions: both have the same ones, and get the same filters. parity.allowed.ts lists the
// only filters that may differ. Other values, and more of them: SEED=random npm test -- parity.filters
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Transaction } from '../../../server/resources/transactions/queries.ts';
import { runs, seed } from '../../support/random.ts';
import { insertTransactions } from '../../support/records.ts';
import { document } from '../../support/requests.ts';
import type { TestService } from '../../support/service.ts';
import { caseOf, filterNames, filterOf, type Case, type Filter } from '../../support/transactions.ts';
import { allowedFilters } from './parity.allowed.ts';
import { exchange, hangUp, knock, report, type Answer, type Parties, type Wire } from './parity.exchange.ts';
import { merchantAccount } from './parity.named.ts';
import { everyExample, startBoth, type TestMock } from './support.ts';

type FilterName = (typeof filterNames)[number];
type Query = readonly (readonly [name: string, value: string | string[]])[];
type Headers = Wire['headers'];

interface Page {
  items: Transaction[];
  next_cursor: string | null;
  previous_cursor: string | null;
}

const shown = everyExample.flatMap(({ id, status, value }) =>
  id === 'listTransactions' && status === 200 ? (value as Page).items : [],
);
const examples: Case[] = shown.map((given) => ({
  given,
  created: Date.parse(given.created_at),
  updated: Date.parse(given.updated_at),
}));

const properties = new Set(Object.keys(shown[0] ?? {}));
// A response has no leap seconds.
const withoutLeap = (text: string, time: number) =>
  text.includes(':60') ? new Date(time).toISOString() : text;

/** Random transactions, with only what a transaction shows: the mock's items have no more. */
const random: Case[] = fc.sample(caseOf('default'), { numRuns: 40 }).map(({ given, created, updated }) => ({
  created,
  updated,
  given: {
    ...(Object.fromEntries(
      Object.entries(given).filter(([name]) => properties.has(name)),
    ) as unknown as Transaction),
    created_at: withoutLeap(given.created_at, created),
    updated_at: withoutLeap(given.updated_at, updated),
  },
}));

/** Each case asks mock and service, so fewer of them run without SEED than elsewhere. */
const share = 1 / 12;

const ignored = new Set(allowedFilters.map(({ name }) => name));
const answered = filterNames.filter((name) => !ignored.has(name));

/** The contract with these transactions in its examples, in a folder that whoever asked removes. */
async function contractWith(items: readonly object[]): Promise<string> {
  const copy = structuredClone(document) as unknown as {
    components: { examples: Record<string, { value: Page }> };
  };
  const { TransactionsFirstPage: first, TransactionsLastPage: last } = copy.components.examples;
  if (!first || !last) throw new Error('The contract has other examples of /transactions now.');
  first.value.items = items.slice(0, 20) as Transaction[];
  last.value.items = items.slice(20) as Transaction[];
  const folder = await mkdtemp(join(tmpdir(), 'parity-filters-'));
  await writeFile(join(folder, 'openapi.json'), JSON.stringify(copy));
  return folder;
}

const targetOf = (query: Query, more: Record<string, string> = { limit: '500' }): string => {
  const pairs = query.flatMap(([name, value]) => [value].flat().map((one): [string, string] => [name, one]));
  return `/transactions?${new URLSearchParams([...pairs, ...Object.entries(more)]).toString()}`;
};

/** What must be equal. Cursors are the business of whoever issued them, but both have one or neither has. */
function essence({ status, body }: Answer): unknown {
  if (status !== 200) return { status, body };
  const { items, next_cursor, previous_cursor } = body as Page;
  return {
    ids: items.map(({ id }) => id),
    hasNext: next_cursor !== null,
    hasPrevious: previous_cursor !== null,
  };
}

const tooMuchAlike = (name: FilterName, items: readonly Transaction[]) => {
  const had = new Set(
    items.map((item) => JSON.stringify((item as Partial<Record<FilterName, unknown>>)[name])),
  );
  return `Every value of the filter ${name} found the same. The items have ${name}=${[...had].join(', ')}; add one with another value in openapi/components/examples/Transaction*.yaml`;
};

describe.each([
  { what: "the contract's examples", cases: examples },
  { what: `random transactions`, cases: random },
])('$what', ({ cases }) => {
  const items = cases.map(({ given }) => given as Transaction);
  let mock: TestMock;
  let service: TestService;
  let stop: () => Promise<void>;
  let parties: Parties;
  let folder: string;
  let wire: Wire;
  beforeAll(async () => {
    folder = await contractWith(items);
    const contractFile = join(folder, 'openapi.json');
    ({ mock, service, stop } = await startBoth({ contractFile }, { webhookWorker: false }));
    const { db } = service.service.database;
    await db.deleteFrom('transactions').execute();
    expect(await insertTransactions(db, items)).toEqual([]);
    parties = { mock: mock.url, service: service.url };
    const who = { kind: 'administrator' as const, token: service.token('*.read'), says: 'an administrator' };
    wire = { name: 'a filtered list', method: 'GET', target: '', headers: {}, who };
  });
  afterAll(async () => {
    hangUp();
    await stop();
    await rm(folder, { recursive: true });
  });

  const used = new Set<string>();

  /** Fails unless both find the same, or the difference is allowed. Returns the IDs that the service found. */
  async function compare(query: Query, headers: Headers = {}): Promise<string[] | undefined> {
    const answers = await exchange(parties, { ...wire, target: targetOf(query), headers });
    const found = answers.service.status === 200 ? (answers.service.body as Page).items : undefined;
    if (!isDeepStrictEqual(essence(answers.mock), essence(answers.service))) {
      const reason = allowedFilters.find(({ when }) => when(answers));
      if (!reason) throw new Error(explain(answers));
      used.add(reason.name);
      // The mock may ignore the filter, and must answer the rest of the query as the service does.
      const rest = targetOf(query.filter(([name]) => name !== reason.name));
      const { service: real } = await exchange(parties, { ...wire, target: rest, headers });
      expect(essence(answers.mock), rest).toEqual(essence(real));
    }
    return found?.map(({ id }) => id);
  }

  const explain = (answers: Parameters<typeof report>[0]) =>
    [
      report({ ...answers, mock: { ...answers.mock, body: '' }, service: { ...answers.service, body: '' } }),
      `mock:    ${JSON.stringify(essence(answers.mock))}`,
      `service: ${JSON.stringify(essence(answers.service))}`,
    ].join('\n  ');

  const accounts: Headers[] = [{}, { [merchantAccount]: 'default' }, { [merchantAccount]: '*' }];

  it('without filters: all of them in the same order', async () => {
    for (const headers of accounts) expect(await compare([], headers)).toHaveLength(items.length);
    if (cases !== examples) {
      // Otherwise the order by ID would not be tested.
      expect(new Set(cases.map(({ created }) => created)).size).toBeLessThan(cases.length);
      return;
    }
    const { mock: mocked, service: real } = await exchange(parties, { ...wire, target: '/transactions' });
    expect(mocked.body).toEqual(real.body);
  });

  const inQuery = (value: unknown): string | string[] => {
    if (value instanceof Map) return JSON.stringify(Object.fromEntries(value as Map<string, string>));
    return Array.isArray(value) ? value.map(String) : String(value);
  };
  const asQuery = (filters: readonly Filter[]): Query =>
    filters.map(({ name, value }) => [name, inQuery(value)]);

  /** Filters with these names that often match one of the transactions. */
  const question = (names: readonly FilterName[]): fc.Arbitrary<Query> =>
    fc
      .constantFrom(...cases)
      .chain((witness) => fc.tuple(...names.map((name) => filterOf(name, witness))))
      .map(asQuery);

  it.each(filterNames)('%s alone', async (name) => {
    const answers = new Set<string>();
    const filters = cases
      .slice(0, 10)
      .flatMap((witness, index) => fc.sample(filterOf(name, witness), { seed: seed + index, numRuns: 2 }));
    for (const [asked, filter] of filters.entries()) {
      if (asked >= runs(filters.length, share) && (answers.size > 1 || used.has(name))) break;
      const found = await compare(asQuery([filter]));
      if (found) answers.add(found.join());
    }
    if (ignored.has(name)) return;
    // A filter that finds nothing, or always everything, would not be tested.
    expect(answers.size, tooMuchAlike(name, items)).toBeGreaterThan(1);
  });

  it('one to five filters at once, in each account', async () => {
    const some = fc.subarray(answered, { minLength: 1, maxLength: 5 }).chain(question);
    await fc.assert(
      fc.asyncProperty(some, fc.constantFrom(...accounts), async (query, headers) => {
        await compare(query, headers);
      }),
      { numRuns: runs(150, share) },
    );
  });

  it('a filter that the mock ignores, among others', async () => {
    const some = fc.tuple(
      fc.subarray(answered, { minLength: 1, maxLength: 2 }).chain(question),
      fc
        .constantFrom(...allowedFilters.map(({ name }) => name as FilterName))
        .chain((name) => question([name])),
    );
    await fc.assert(
      fc.asyncProperty(some, async ([query, other]) => {
        await compare([...query, ...other]);
      }),
      { numRuns: runs(40, share) },
    );
  });

  /** Follows the cursors of each party, and compares page by page. */
  async function walk(query: Query, limit: number, headers: Headers): Promise<string[]> {
    const turn = async (cursors: Record<keyof Parties, string | undefined>) => {
      const ask = (party: keyof Parties) => {
        const cursor = cursors[party];
        const target = targetOf(query, { limit: String(limit), ...(cursor ? { cursor } : {}) });
        return knock(parties[party], { ...wire, target, headers });
      };
      const [mocked, real] = await Promise.all([ask('mock'), ask('service')]);
      expect(real.status).toBe(200);
      expect(essence(mocked), targetOf(query)).toEqual(essence(real));
      return { mock: mocked.body as Page, service: real.body as Page };
    };
    const seen: string[] = [];
    let page = await turn({ mock: undefined, service: undefined });
    const follow = async (which: 'next_cursor' | 'previous_cursor') => {
      const [one, other] = [page.mock[which], page.service[which]];
      if (one === null || other === null) return false;
      page = await turn({ mock: one, service: other });
      return true;
    };
    const collect = () => page.service.items.map(({ id }) => id);
    seen.push(...collect());
    while (await follow('next_cursor')) seen.push(...collect());
    const back = collect();
    while (await follow('previous_cursor')) back.unshift(...collect());
    expect(back).toEqual(seen);
    return seen;
  }

  it('pages of several sizes, forwards and backwards, with several filters', async () => {
    const some = fc.subarray(answered, { minLength: 0, maxLength: 2 }).chain(question);
    await fc.assert(
      fc.asyncProperty(
        some,
        fc.constantFrom(1, 2, 3, 9),
        fc.constantFrom(...accounts),
        async (query, limit, headers) => {
          expect(await walk(query, limit, headers)).toEqual(await compare(query, headers));
        },
      ),
      { numRuns: runs(15, share) },
    );
  });

  it('needs every allowed difference; one that is not needed must be removed', () => {
    expect([...ignored].filter((name) => !used.has(name))).toEqual([]);
  });
});
