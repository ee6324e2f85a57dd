// The contract that others get is ours without `additionalProperties: false` where only answers and events lead: these may gain
// fields in a minor version. The copies in the docs are compared in test/tools/docs.test.ts.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { operations } from '../../generated/operations.ts';
import { compileAt, createAjv } from '../../server/kit/contract/ajv.ts';
import { loadContract, publish, type Document } from '../../server/kit/contract/load.ts';
import { examples } from '../contract/examples.collect.ts';
import { startTestService } from '../support/service.ts';
import { startTestMock } from './mock/support.ts';

const { document } = loadContract();
const published = publish(document);

/** The pointers of all keywords that close an object. */
function closedIn(node: unknown, pointer = ''): string[] {
  if (typeof node !== 'object' || node === null) return [];
  return Object.entries(node).flatMap(([key, value]) =>
    value === false && /^(additional|unevaluated)Properties$/.test(key)
      ? [pointer]
      : closedIn(value, `${pointer}/${key}`),
  );
}

const inSchemas = (names: string) => names.split(' ').map((name) => `/components/schemas/${name}`);

describe('the published contract', () => {
  const closed = closedIn(published);

  it('stays closed where a request leads, and where the specification says so', () => {
    expect(closed).toEqual(
      expect.arrayContaining(
        inSchemas(
          'ApiKeyPairCollection BasicAuthentication GiftCardBalanceNew GiftCardBalanceRequest GiftCardBalanceStored PaymentMethodCreate WebhookSubscriptionCreate',
        ),
      ),
    );
  });

  it('is open in answers and events', () => {
    const names =
      'Address ApiKeyPair Buyer CardDetails ConflictError Error ErrorDetail GiftCardBalance PaymentMethod PaymentMethodCreatedEvent Transaction TransactionCollection TransactionUpdatedEvent ValidationErrorDetail WebhookSubscription';
    expect(closedIn(document)).toEqual(expect.arrayContaining(inSchemas(names)));
    expect(closed.filter((pointer) => inSchemas(names).includes(pointer))).toEqual([]);
  });

  it('is closed in no other answer than the introduction names', () => {
    const names = new Set<string>();
    const collect = (node: unknown): void => {
      for (const [, name = ''] of JSON.stringify(node ?? null).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
        if (names.has(name)) continue;
        names.add(name);
        collect(published.components.schemas?.[name]);
      }
    };
    for (const item of Object.values(published.paths))
      for (const { responses } of Object.values(item)) collect(responses);
    collect(published.webhooks);
    expect(inSchemas([...names].sort().join(' ')).filter((pointer) => closed.includes(pointer))).toEqual(
      inSchemas('ApiKeyPairCollection BasicAuthentication'),
    );
    const text = readFileSync(join(import.meta.dirname, '../../openapi/introduction.md'), 'utf8');
    const [, named] = /allow further\s+fields, (except [^.]+)\./.exec(text) ?? [];
    expect(named?.replaceAll(/\s+/g, ' ')).toBe(
      'except for the list of API key pairs and for the `authentication` of a webhook subscription, whose schema requests share',
    );
  });

  it('has everything else as the contract has it', () => {
    const without = (one: Document) =>
      JSON.stringify(one, (key, value: unknown) =>
        /Properties$/.test(key) && value === false ? undefined : value,
      );
    expect(without(published)).toBe(without(document));
  });

  it('is open in schemas that stand in the answer itself, and closed in those of requests', () => {
    const media = {
      'application/json': { schema: { type: 'object', unevaluatedProperties: false }, examples: {} },
    };
    const operation = {
      operationId: 'createNote',
      parameters: [{ $ref: '#/components/parameters/Filter' }],
      requestBody: { content: media },
      responses: { 200: { content: structuredClone(media) } },
    };
    const filter = { name: 'filter', in: 'query', schema: { type: 'object', additionalProperties: false } };
    const components = { parameters: { Filter: filter } };
    const one = { ...document, paths: { '/notes': { post: operation } }, webhooks: {}, components };
    expect(closedIn(publish(one))).toEqual([
      '/paths//notes/post/requestBody/content/application/json/schema',
      '/components/parameters/Filter/schema',
    ]);
  });

  it('makes a validator that accepts an answer and an event with a new field, and no such request', () => {
    const ajv = createAjv(published);
    const isValid = (schema: string, value: unknown) => compileAt(ajv, schema)(value);
    const isRequest = ({ operation, side }: (typeof examples)[number]) =>
      operation in operations && side === 'request';
    const wrong = examples.filter((example) => {
      const { operation, side, schema, value } = example;
      const mayGain = !isRequest(example) && !(operation === 'listApiKeyPairs' && side === '200');
      return !isValid(schema, value) || isValid(schema, { ...(value as object), unicorn: 1 }) !== mayGain;
    });
    expect(wrong).toEqual([]);
    expect(examples.filter(isRequest).length).toBeGreaterThan(10);
  });

  it.each([
    ['service', startTestService],
    ['mock', startTestMock],
  ])('is what the %s answers, with its own address in the first place', async (_name, start) => {
    await using server = await start();
    const { servers, ...served } = (await (await fetch(`${server.url}/openapi.json`)).json()) as Document;
    expect(servers).toEqual([expect.objectContaining({ url: server.url }), ...(published.servers ?? [])]);
    expect(served).toEqual({ ...published, servers: undefined });
  });
});
