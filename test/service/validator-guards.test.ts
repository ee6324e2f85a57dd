// express-openapi-validator has pitfalls; server/kit/contract/ and server/kit/http/ have a guard against each. Every test here fails
// without its guard. See docs/decisions/0005.
import { setTimeout as sleep } from 'node:timers/promises';
import express from 'express';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { operations, type OperationId } from '../../generated/operations.ts';
import { compileContract } from '../../server/kit/contract/compile.ts';
import {
  ContractFault,
  loadContract,
  resolve,
  type Contract,
  type Document,
  type Parameter,
  type Schema,
} from '../../server/kit/contract/load.ts';
import { createValidator } from '../../server/kit/contract/validator.ts';
import { ApiError, type Detail } from '../../server/kit/errors.ts';
import { createBody } from '../../server/kit/http/body.ts';
import { createWriteError, createFallback } from '../../server/kit/http/write-error.ts';
import { sendBytes } from '../support/call.ts';
import { validate } from '../support/requests.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let token: string;
beforeAll(async () => {
  service = await startTestService();
  token = service.token('*.read', '*.write');
});
afterAll(() => service[Symbol.asyncDispose]());

const told = ({ body }: { body: never }) =>
  (body as { details: Detail[] }).details.map(
    ({ location, pointer, type }) => `${location} ${pointer} ${type}`,
  );

/** Sends the path unchanged; fetch would encode it. */
async function raw(path: string): Promise<{ status: number; body: never }> {
  const answer = await sendBytes(
    service.url,
    `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nConnection: close\r\n\r\n`,
  );
  const [head = '', text = ''] = answer.split('\r\n\r\n', 2);
  return { status: Number(head.slice(9, 12)), body: JSON.parse(text) as never };
}

const contractWith = (edit: (document: Document) => void): Contract => {
  const contract = loadContract();
  edit(contract.document);
  return { ...contract, text: JSON.stringify(contract.document, null, 2) };
};

const validated = async (document: Document, id: OperationId, query: string, body?: unknown) => {
  const validator = createValidator(document);
  // Compiling blocks the event loop; connections that timed out in the meantime are closed now.
  await sleep(20);
  return validate(validator, id, `${operations[id].path}?${query}`, body);
};

const detailsOf = (attempt: Promise<unknown>): Promise<Detail[]> =>
  attempt.then(
    () => [],
    (error: unknown) => {
      if (error instanceof ApiError) return error.facts.details ?? [];
      throw error;
    },
  );

describe('coerceTypes: values in a body are not converted', () => {
  const subscription = { url: 'https://shop.example/' };

  it('"5" is no integer', async () => {
    const { document } = contractWith(({ components }) => {
      const create = components.schemas?.WebhookSubscriptionCreate as { properties: Record<string, Schema> };
      create.properties.attempts = { type: 'integer', minimum: 1 };
    });
    const send = (attempts: unknown) =>
      detailsOf(validated(document, 'createWebhookSubscription', '', { ...subscription, attempts }));
    expect(await send(5)).toEqual([]);
    expect(await send('5')).toMatchObject([{ pointer: '/attempts', type: 'type_error.integer' }]);
  });
});

describe('Content-Type: one compiled validator for all', () => {
  // The validator keeps a megabyte for each value of the header that it sees, so it must see the same one whatever the caller
  // sends, also on GET.
  it.each(['GET', 'POST'])('a %s passes on one value or none', async (method) => {
    const seen = new Set<string | undefined>();
    const spy = express();
    const step = createBody(1_000, () => method === 'POST');
    spy.use(async (req, res) => {
      await Promise.resolve(step(undefined as never, req, res)).catch(() => undefined);
      seen.add(req.headers['content-type']);
      res.end();
    });
    const server = spy.listen(0);
    const { port } = server.address() as { port: number };
    const types = ['application/json; x=1', 'application/json;charset=utf-8', 'APPLICATION/JSON', 'a/b', ''];
    for (const type of types)
      await fetch(`http://127.0.0.1:${port}/`, {
        method,
        headers: { 'Content-Type': type },
        ...(method === 'POST' ? { body: '{}' } : {}),
      });
    server.close();
    const handedOn = [...seen].filter((type) => type !== undefined);
    expect(handedOn).toEqual(method === 'POST' ? ['application/json'] : []);
  });
});

// `npm run generate` has linted the contract and calls every operation, too.
describe('an unusable contract', () => {
  const schemas = (document: Document) => document.components.schemas as Record<string, Schema>;
  // These are valid; the validator would fail at the first request.
  const unusable: Record<string, (document: Document) => void> = {
    'an $id, which it meets more than once': (document) => {
      Object.assign(schemas(document).FreeText ?? {}, { $id: 'https://shop.example/free-text' });
    },
    'a version of OpenAPI that it does not read': (document) => {
      document.openapi = '3.2.0';
    },
    'a base path in servers, with which it would pass over everything': (document) => {
      Object.assign(document, { servers: [{ url: 'https://api.example/v1' }] });
    },
  };

  it.each(Object.entries(unusable))('%s: nothing starts with it', async (_name, edit) => {
    const started = compileContract(contractWith(edit));
    await expect(started).rejects.toThrow(/^The contract cannot be used: /);
    await expect(started).rejects.toBeInstanceOf(ContractFault);
  });

  it('a schema of a response that cannot be compiled stops the start of a contract that was not generated', async () => {
    const contract = contractWith((document) => {
      schemas(document).Transaction = { type: 'strin' };
    });
    await expect(compileContract(contract)).rejects.toThrow(
      /^generated\/openapi\.json#\/.* cannot be used: type must be/,
    );
  });
});

describe('query values, raw and encoded', () => {
  it.each([
    'created_at_gte=2026-01-01T00:00:00Z',
    'created_at_gte=2026-01-01T00:00:00-01:00',
    'created_at_gte=2026-01-01T00:00:00%2B01:00',
    'created_at_gte=2026-01-01T00%3A00%3A00%2B01%3A00',
    'created_at_gte=2024-02-29t00:00:00.123456z',
    "search=a:b/c?d@e!f$g'h(i)j*k,l;m=n",
    'external_identifier=order%209001',
    'external_identifier=order+9001',
    'metadata={%22channel%22:%22web%22}',
    'status=processing&status=capture_succeeded',
    'amount_eq=0',
    'limit=%31%30',
  ])('%s passes', async (query) => {
    expect((await raw(`/transactions?${query}`)).status).toBe(200);
  });

  it('reserved characters that are not encoded pass in every text parameter, as in contract 1.0', async () => {
    const { document } = loadContract();
    const names = Object.values(document.components.parameters as Record<string, Parameter>)
      .filter((parameter) => parameter.in === 'query' && isFreeText(document, parameter.schema))
      .map(({ name }) => name);
    expect(names.length).toBeGreaterThan(8);
    for (const name of names) {
      const { status, body } = await raw(`/transactions?${name}=a:/?@!$'()*,;=`);
      // A cursor of our own has no such characters; metadata is JSON.
      const expected = name === 'cursor' || name === 'metadata' ? 422 : 200;
      expect([name, status, expected === 200 ? '' : told422(body)]).toEqual([
        name,
        expected,
        expected === 200 ? '' : name,
      ]);
    }
  });

  const isFreeText = (document: Document, schema: Schema): boolean => {
    const { type, items, format, pattern = '^[^', maxLength = 200, ...rest } = resolve(document, schema);
    if (type === 'array') return isFreeText(document, items as Schema);
    const isOpen = String(pattern).startsWith('^[^') && Number(maxLength) >= 13;
    return [type].flat().includes('string') && format === undefined && isOpen && !('enum' in rest);
  };
  const told422 = (body: unknown) => (body as { detail: { loc: string[] }[] }).detail[0]?.loc[1];

  it.each([
    ['amount_eq=+10', 'query /amount_eq type_error.integer'],
    ['limit%5Ba%5D=1', 'query /limit[a] value_error.extra'],
    ['status=processing,capture_succeeded', 'query /status/0 value_error.enum'],
    ['=1', 'query / value_error.extra'],
  ])('%s is 400 and names the parameter', async (query, expected) => {
    const answer = await raw(`/transactions?${query}`);
    expect(answer.status).toBe(400);
    expect(told(answer)).toEqual([expected]);
  });

  it('0 is zero, and never null, also where the contract would allow null', async () => {
    const { document } = contractWith(({ components }) => {
      Object.assign((components.parameters as Record<string, object>).AmountEqFilter ?? {}, {
        schema: { anyOf: [{ $ref: '#/components/schemas/Amount' }, { type: 'null' }] },
      });
    });
    expect((await validated(document, 'listTransactions', 'amount_eq=0')).query).toMatchObject({
      amount_eq: 0,
    });
    expect(await detailsOf(validated(document, 'listTransactions', 'amount_eq='))).toMatchObject([
      { pointer: '/amount_eq', type: 'type_error.integer' },
    ]);
    const { query } = await validated(
      loadContract().document,
      'listTransactions',
      'amount_eq=0&has_refunds=false',
    );
    expect(query).toEqual({ amount_eq: 0, has_refunds: false, limit: 20 });
  });

  it('a filter after a thousand ampersands is not lost', async () => {
    const { document } = loadContract();
    const noise = '&'.repeat(1_500);
    expect((await validated(document, 'listTransactions', `${noise}limit=7`)).query).toMatchObject({
      limit: 7,
    });
    expect(told(await raw(`/transactions?${noise}curency=USD`))).toEqual([
      'query /curency value_error.extra',
    ]);
  });

  it('nor is one after a raw #', async () => {
    expect(told(await raw('/transactions?search=a#b&curency=USD'))).toEqual([
      'query /curency value_error.extra',
    ]);
  });

  it('a URL full of bad values is explained by the first hundred', async () => {
    const answer = await raw(`/transactions?${'method=x&'.repeat(1_600)}limit=0`);
    expect(told(answer)).toHaveLength(100);
  });
});

it('a body is required, also if none of its properties is', async () => {
  const { document } = contractWith(({ components }) => {
    Object.assign(components.schemas?.WebhookSubscriptionCreate as Schema, { required: undefined });
  });
  expect(await detailsOf(validated(document, 'createWebhookSubscription', '', {}))).toEqual([]);
  expect(await detailsOf(validated(document, 'createWebhookSubscription', ''))).toMatchObject([
    { location: 'body', pointer: '', type: 'value_error.missing' },
  ]);
});

describe('$ref, oneOf, not', () => {
  it('keywords next to a $ref inside a body are applied', async () => {
    const { document } = contractWith(({ components }) => {
      const made = components.schemas?.GiftCardBalanceNew as { properties: Record<string, Schema> };
      Object.assign(made.properties.pin ?? {}, { type: 'string', maxLength: 2 });
    });
    const body = { items: [{ number: '9999000050001234', pin: '123' }] };
    expect(await detailsOf(validated(document, 'checkGiftCardBalances', '', body))).toMatchObject([
      { pointer: '/items/0/pin', type: 'value_error.str.max_length' },
    ]);
  });
});

describe('one answer format for everything', () => {
  const json = 'application/json; charset=utf-8';
  const plain = {
    type: 'error',
    code: 'server_error',
    status: 500,
    message: 'Request could not be processed',
    details: [],
  };

  const serve = () => {
    const lines: string[] = [];
    const log = pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) });
    const app = express();
    app.get('/half', (_req, res) => {
      res.write('half');
      throw new Error('the roof is on fire');
    });
    app.use(() => {
      throw new Error('the roof is on fire');
    });
    const check = {
      fault: () => {
        throw new Error('the fire brigade is on fire');
      },
      eventFault: () => undefined,
    };
    app.use(createWriteError(check, log), createFallback(log));
    const server = app.listen(0);
    const { port } = server.address() as { port: number };
    return {
      url: `http://127.0.0.1:${port}`,
      lines,
      [Symbol.asyncDispose]: () =>
        new Promise<void>((done) =>
          server.close(() => {
            done();
          }),
        ),
    };
  };

  it('an error in the error middleware becomes a JSON 500 too, and is logged', async () => {
    await using odd = serve();
    const response = await fetch(`${odd.url}/x`, { headers: { Connection: 'close' } });
    expect([response.status, response.headers.get('content-type')]).toEqual([500, json]);
    expect(await response.json()).toEqual(plain);
    expect(odd.lines.join('')).toContain('the fire brigade is on fire');
  });

  it('if a response fails half-way, the connection is closed, so that the caller notices', async () => {
    await using odd = serve();
    await expect(
      fetch(`${odd.url}/half`, { headers: { Connection: 'close' } }).then((response) => response.text()),
    ).rejects.toThrow();
    await vi.waitFor(() => {
      expect(odd.lines.join('')).toContain('the roof is on fire');
    });
  });

  it.each([
    ['an unknown path', '/unicorns', 404],
    ['no token', '/transactions', 401],
    ['a path that cannot be decoded', '/%E0%A4%A', 404],
  ])('%s, whatever the caller accepts', async (_name, path, status) => {
    for (const accept of ['text/html', 'application/xml', '*/*;q=0', 'application/problem+json']) {
      const answer = await service.call('GET', path, { headers: { Accept: accept } });
      expect([answer.status, answer.headers.get('content-type')]).toEqual([status, json]);
    }
  });
});
