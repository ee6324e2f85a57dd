/**
 * Holds the contract against the tables of the specification and its open points, which are written from those two documents,
 * never from the contract: nothing missing, nothing different. `npm run diff` guards what the tables do not say (headers,
 * patterns, sizes of lists, defaults), and finds additions that nobody has announced.
 */
import { describe, expect, it } from 'vitest';
import { asArray, asJson, Contract, type Place } from './document.ts';
import { events, operations } from './operations.ts';
import { errorBody } from './resources.ts';
import { fieldsOf, optional, shapeOf, type Shape } from './shape.ts';
import { errorCodes } from './values.ts';

const contract = Contract.read(process.env['CONTRACT_FILE'] ?? 'generated/openapi.json');
const valueAt = (keys: string[], start?: Place): unknown => contract.at(keys, start).value;
const codes: unknown[] = Object.values(errorCodes).map(({ code }) => code);
const jsonBody = ['content', 'application/json', 'schema'];

/** As fields, by name. */
function parametersOf(operation: Place): Shape {
  const list = asArray(asJson(operation.value)['parameters']).map((value) =>
    asJson(contract.follow({ pointer: '', value }).value),
  );
  const schemas = list.map((one): [string, unknown] => [String(one['name']), one['schema']]);
  const required = list.filter((one) => one['required'] === true).map((one) => String(one['name']));
  return fieldsOf(contract, Object.fromEntries(schemas), required);
}

describe.each(operations)('$id', ({ id, endpoint, ...promised }) => {
  const [method = '', path = ''] = endpoint.split(' ');
  const operation = contract.at(['paths', path, method.toLowerCase()]);
  const responses = contract.at(['responses'], operation);
  const extension = (name: string) => asJson(operation.value)[name];

  it(`is ${endpoint}, with a token of the right scope`, () => {
    expect(extension('operationId')).toBe(id);
    expect(extension('security')).toEqual(promised.scopes.map((scope) => ({ BearerAuth: [scope] })));
  });

  it('takes the parameters and the body of the specification', () => {
    const account = { 'X-Service-Merchant-Account-ID': 'string 1..255' };
    expect(parametersOf(operation)).toMatchObject(optional({ ...promised.parameters, ...account }));
    const body = contract.at(['requestBody'], operation);
    if (!promised.body) expect(body.value).toBe(undefined);
    else expect(shapeOf(contract, valueAt(jsonBody, body))).toMatchObject(promised.body);
  });

  it('answers with the resources of the specification, or with its errors', () => {
    const answer = (status: number) => shapeOf(contract, valueAt([String(status), ...jsonBody], responses));
    expect(answer(promised.success)).toMatchObject(promised.answer);
    for (const status of promised.errors)
      expect([status, answer(status)]).toMatchObject([status, errorBody(status)]);
  });

  it('shows errors with the codes and messages of the specification', () => {
    for (const status of promised.errors) {
      const examples = contract.at([String(status), 'content', 'application/json', 'examples'], responses);
      const shown = Object.keys(asJson(examples.value))
        .map((name) => asJson(valueAt([name, 'value'], examples)))
        // An addition has a message of its own.
        .filter(({ code }) => codes.includes(code));
      const error = { type: 'error', status, ...errorCodes[status] };
      for (const one of shown) expect(one).toMatchObject(error);
    }
  });

  it('has the merchant scope, the rate limit and the reserved statuses of the specification', () => {
    expect(extension('x-merchant-scope')).toBe(promised.merchantScope);
    expect(extension('x-rate-limit')).toEqual(promised.rateLimit);
    const reserved = Object.keys(asJson(extension('x-reserved'))).map(Number);
    expect(reserved).toEqual(promised.reserved ?? []);
  });
});

it.each(events)('%s carries the payload of the specification', (name, payload) => {
  const body = valueAt(['webhooks', name, 'post', 'requestBody', ...jsonBody]);
  expect(shapeOf(contract, body)).toMatchObject(payload);
});

it('has JWT bearer tokens, and every error code of the specification', () => {
  const { BearerAuth, ...others } = asJson(valueAt(['components', 'securitySchemes']));
  expect(BearerAuth).toMatchObject({ type: 'http', scheme: 'bearer', bearerFormat: 'JWT' });
  expect(others).toEqual({});
  const known = asArray(valueAt(['components', 'schemas', 'ErrorCode', 'enum']));
  expect(known).toEqual(expect.arrayContaining(codes));
});
