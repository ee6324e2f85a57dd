// The answer to a refused request lists all violations: location, JSON pointer, message and type. The tests generate valid
// requests from the contract and break them at known places, so they know which violations must be reported.
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { operations, type OperationId } from '../../generated/operations.ts';
import { createExplain } from '../../server/kit/contract/explain.ts';
import { operationsOf } from '../../server/kit/contract/load.ts';
import { createValidator, unexplained, type Validator } from '../../server/kit/contract/validator.ts';
import { ApiError, type Detail } from '../../server/kit/errors.ts';
import { compatible, mutate, mutationsOf, oddNames, type Mutation } from '../support/mutations.ts';
import { runs, shareOf } from '../support/random.ts';
import {
  bodySchemaOf,
  document,
  parametersOf,
  request,
  validate,
  type Json,
  type Sent,
} from '../support/requests.ts';
import { examplePath } from '../support/valid-request.ts';

const ids = Object.keys(operations) as OperationId[];

const searchOf = ({ query }: Pick<Sent, 'query'>) => new URLSearchParams(query).toString();
const urlOf = (sent: Sent) => `${examplePath(sent.id)}${sent.query.length > 0 ? `?${searchOf(sent)}` : ''}`;

let validator: Validator;
beforeAll(() => {
  validator = createValidator(document);
});

/** The violations that the validator reports, in process; empty when it accepts the request. */
async function violations(sent: Sent, url = urlOf(sent)): Promise<Detail[]> {
  try {
    await validate(validator, sent.id, url, structuredClone(sent.body));
    return [];
  } catch (error) {
    if (error instanceof ApiError && error.status === 400) return error.facts.details ?? [];
    throw error;
  }
}

const places = (details: readonly Detail[]) =>
  [...new Set(details.map(({ location, pointer }) => `${location} ${pointer}`))].sort();

function expectTold(details: readonly Detail[], mutations: Mutation[]): void {
  expect(places(details)).toEqual([...new Set(mutations.map(({ expects }) => expects))].sort());
  for (const { message, type } of details) {
    expect(message).toMatch(/^(must|is|cannot) ./);
    expect(type).toMatch(/^(value|type)_error(\.[a-z_.]+)*$/);
  }
}

const broken = fc.constantFrom(...ids).chain((id) =>
  fc.tuple(request(id), fc.array(fc.nat(), { minLength: 1, maxLength: 4 })).map(([sent, picks]) => {
    const all = mutationsOf(sent);
    const mutations = compatible(picks.flatMap((pick) => all[pick % all.length] ?? []));
    return { sent: mutate(sent, mutations), mutations, what: mutations.map(({ what }) => what) };
  }),
);

const anyValid = fc.constantFrom(...ids).chain(request);

describe(`every violation at once`, () => {
  it('a valid request is never refused', async () => {
    await fc.assert(
      fc.asyncProperty(anyValid, async (sent) => {
        expect(await violations(sent)).toEqual([]);
      }),
      { numRuns: runs(400) },
    );
  });

  it('a request broken at one to four places gets exactly these violations', async () => {
    await fc.assert(
      fc.asyncProperty(broken, async ({ sent, mutations }) => {
        expectTold(await violations(sent), mutations);
      }),
      { numRuns: runs(800) },
    );
  });

  it('every single way to break a request is reported', async () => {
    for (const id of ids) {
      const samples = fc.sample(request(id), { numRuns: runs(4) });
      for (const sent of samples)
        for (const mutation of shareOf(mutationsOf(sent))) {
          const details = await violations(mutate(sent, [mutation]));
          expect(places(details), `${id}: ${mutation.what}`).toEqual([mutation.expects]);
        }
    }
  });
});

describe(`verdict and explanation agree`, () => {
  const names = [...new Set(ids.flatMap((id) => parametersOf(id).map(({ name }) => name)))];
  const key = fc.constantFrom(
    ...[
      'items',
      'number',
      'pin',
      'id',
      'method',
      'expiration_date',
      'url',
      'active',
      'authentication',
      'kind',
    ],
    ...['username', 'password', 'buyer_id', 'buyer_external_identifier', 'security_code', 'redirect_url'],
    'unicorn',
  );
  const leaf = fc.constantFrom<Json>(
    ...['', 'card', 'basic', '4111111111111111', '12/39', 'https://shop.example/', '123', 'x'],
    ...[null, 0, 5, true, 'fe26475d-ec3e-4884-9553-f7356683f7f9'],
  );
  const { body } = fc.letrec<{ body: Json }>((tie) => ({
    body: fc.oneof(
      { maxDepth: 4 },
      leaf,
      fc.array(tie('body'), { maxLength: 12 }),
      fc.dictionary(key, tie('body'), { maxKeys: 8, noNullPrototype: true }),
    ),
  }));
  const value = fc.constantFrom(
    ...['', '0', '1', '-0', '007', 'true', 'null', '2026-01-01T00:00:00Z', 'USD', 'a,b', '{}'],
  );
  const search = fc
    .array(fc.tuple(fc.constantFrom(...names, ...oddNames), value), { maxLength: 4 })
    .map((pairs) => new URLSearchParams(pairs).toString());
  const soup = fc.string({ unit: fc.constantFrom(...'limit=&?%#[]+;:/ 0aé'.split('')), maxLength: 30 });

  it('on any request: a refused one has violations, an accepted one has none', async () => {
    const explain = createExplain(document);
    const entries = new Map(operationsOf(document).map((entry) => [entry.operation.operationId, entry]));
    const counts = { refused: 0, passed: 0 };
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...ids), fc.oneof(search, soup), body, async (id, text, sent) => {
        const url = `${examplePath(id)}?${text}`;
        const told = await violations({ id, query: [], body: bodySchemaOf(id) && sent }, url);
        expect(told).not.toContainEqual(unexplained);
        if (told.length > 0) counts.refused += 1;
        else {
          counts.passed += 1;
          const entry = entries.get(id);
          expect(entry && explain(entry, { url, body: sent, headers: {} })).toEqual([]);
        }
      }),
      { numRuns: runs(800) },
    );
    expect(counts.refused).toBeGreaterThan(runs(160));
    expect(counts.passed).toBeGreaterThan(runs(50));
  });
});

describe('named cases', () => {
  const balances = async (...items: Json[]) =>
    (await violations({ id: 'checkGiftCardBalances', query: [], body: { items } })).map(
      ({ pointer, type }) => `${pointer} ${type}`,
    );

  it('violations in query and body are reported together', async () => {
    const told = await violations({ id: 'createPaymentMethod', query: [['unicorn', '1']], body: {} });
    expect(places(told)).toEqual(['body /expiration_date', 'body /method', 'body /number', 'query /unicorn']);
    const nothing = await violations({
      id: 'createPaymentMethod',
      query: [['unicorn', '1']],
      body: undefined,
    });
    expect(places(nothing)).toEqual(['body ', 'query /unicorn']);
  });

  it('a list that is far too long is told about its first items, and never compares each error with all others', async () => {
    const told = await balances(...Array.from({ length: 49_000 }, () => 1));
    expect(told).toEqual([
      '/items value_error.list.max_items',
      ...Array.from({ length: 10 }, (_, index) => `/items/${index} type_error.object`),
    ]);
  });
});

describe('what only the query shows', () => {
  it.each([
    ['curency=USD', '/curency is not a known parameter | value_error.extra'],
    [
      'currency[]=EUR&currency[]=USD',
      '/currency[] is not a known parameter; repeat currency for each value, without [] | value_error.extra',
    ],
    [
      'currency%5B0%5D=EUR',
      '/currency[0] is not a known parameter; repeat currency for each value, without [] | value_error.extra',
    ],
    ['limit[]=1', '/limit[] is not a known parameter | value_error.extra'],
    ['limit=1&limit=2', '/limit must be given only once | value_error.duplicate'],
    [
      'created_at_gte=2026-11-15T10:30:00+01:00',
      '/created_at_gte has a space before its time zone; in a URL write + as %2B | value_error.datetime',
    ],
    [
      'created_at_gte=2026-11-15+10:30:00Z',
      '/created_at_gte must be a date-time with its time zone, such as 2026-11-15T10:30:00Z | value_error.datetime',
    ],
  ])('%s', async (query, told) => {
    const details = await violations(
      { id: 'listTransactions', query: [], body: undefined },
      `/transactions?${query}`,
    );
    expect(details.map(({ pointer, message, type }) => `${pointer} ${message} | ${type}`)).toEqual([told]);
  });
});
