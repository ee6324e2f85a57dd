// The acceptance of requests and express-openapi-validator: both accept the same requests, and read the same values.
import fc from 'fast-check';
import type { Request, Response } from 'express';
import { beforeAll, describe, expect, it } from 'vitest';
import { operations, type OperationId } from '../../generated/operations.ts';
import { createAcceptance, type Acceptance } from '../../server/contract/acceptance.ts';
import { createExplainer } from '../../server/contract/explain.ts';
import { parseQuery } from '../../server/contract/query.ts';
import { createRequestJudge, prepareQueries, type RequestJudge } from '../../server/contract/requests.ts';
import { ApiError } from '../../server/errors.ts';
import { badValues, compatible, mutate, mutationsOf } from '../support/mutations.ts';
import { document, parametersOf, request, schemaOf, type Sent } from '../support/requests.ts';

const ids = Object.keys(operations) as OperationId[];
const prepared = prepareQueries(document);
const explainer = createExplainer(prepared);

let validator: RequestJudge;
let acceptance: Acceptance;
beforeAll(async () => {
  validator = await createRequestJudge(document);
  acceptance = createAcceptance(prepared);
  for (const id of ids) acceptance.compile(id);
});

type Headers = Record<string, string>;

/** What the handler would receive; undefined for a refusal. */
async function judged(id: OperationId, url: string, sentBody: unknown, headers: Headers) {
  const { method, path } = operations[id];
  const body: unknown = structuredClone(sentBody);
  const req = {
    ...{ method: method.toUpperCase(), url, originalUrl: url, path, baseUrl: '', params: {}, body },
    headers: { ...headers, ...(method === 'post' ? { 'content-type': 'application/json' } : {}) },
    app: { enabled: () => true },
  };
  try {
    await validator.judge(id, req as unknown as Request, {} as Response);
    return { query: { ...(req as unknown as Request).query }, body };
  } catch (error) {
    if (error instanceof ApiError && error.status === 400) return undefined;
    throw error;
  }
}

function accepted(id: OperationId, url: string, sentBody: unknown, headers: Headers) {
  const body: unknown = structuredClone(sentBody);
  const { values, faults } = parseQuery(url);
  const query = explainer.boundQuery(id, values);
  if (faults.length > 0 || explainer.hasMissedFault(id, query)) return undefined;
  const read = acceptance.accept(id, { query, headers, body });
  return read && { query: read, body };
}

const urlOf = ({ id, query }: Sent) =>
  `${operations[id].path}${query.length > 0 ? `?${new URLSearchParams(query).toString()}` : ''}`;

const headers = fc.record(
  {
    'idempotency-key': fc.constantFrom('a', 'x'.repeat(255), 'x'.repeat(256), '', 'ü', 'a b', '7'),
    'x-service-merchant-account-id': fc.constantFrom('default', '*', '', 'x'.repeat(255)),
    prefer: fc.constant('code=200'),
  },
  { requiredKeys: [] },
);

describe.each(ids)('%s', (id) => {
  it('accepts exactly the valid requests, and those that are broken in one place or more not', async () => {
    let valid = 0;
    await fc.assert(
      fc.asyncProperty(request(id), headers, fc.nat(), async (sent, sentHeaders, chosen) => {
        const mutations = compatible(mutationsOf(sent));
        const broken = mutate(
          sent,
          [mutations[chosen % Math.max(1, mutations.length)]].flatMap((one) => one ?? []),
        );
        for (const one of [sent, broken]) {
          const expected = await judged(id, urlOf(one), one.body, sentHeaders);
          expect(accepted(id, urlOf(one), one.body, sentHeaders)).toEqual(expected);
          if (expected) valid += 1;
        }
      }),
      { numRuns: 60 },
    );
    expect(valid).toBeGreaterThan(10);
  });

  it('reads every spelling of a value as the validator does', async () => {
    const spellings = [
      '',
      '0',
      '1',
      '-1',
      '007',
      '1.0',
      '1e3',
      'true',
      'false',
      'TRUE',
      'null',
      ' 1',
      'a,b',
      '[]',
      '{}',
    ];
    for (const { name, schema } of parametersOf(id)) {
      const values = [...spellings, ...badValues(schemaOf(schema))];
      for (const first of values)
        for (const more of [[], ['1'], [first]]) {
          const query = [first, ...more].map((value): [string, string] => [name, value]);
          const url = urlOf({ id, query, body: undefined });
          const expected = await judged(id, url, undefined, {});
          expect([url, accepted(id, url, undefined, {})]).toEqual([url, expected]);
        }
    }
  });
});

it('leaves operations to the validator whose parameters are written in another way', () => {
  const [operation] = Object.values(prepared.paths['/transactions'] ?? {});
  const odd = { name: 'odd', in: 'query', style: 'deepObject', schema: { type: 'object' } };
  const changed = structuredClone(prepared);
  const target = changed.paths['/transactions']?.get;
  expect(operation).toBeDefined();
  target?.parameters?.push(odd as never);
  const other = createAcceptance(changed);
  other.compile('listTransactions');
  expect(other.accept('listTransactions', { query: {}, headers: {}, body: undefined })).toBeUndefined();
});
