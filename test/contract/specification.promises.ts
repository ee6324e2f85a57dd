/** Every promise of the specification that the contract must keep: a name, and what is wrong with a contract. */
import { isDeepStrictEqual } from 'node:util';
import { bodyFaults } from './specification.bodies.ts';
import { faultsOf, type Aspect, type Fault } from './specification.checker.ts';
import { asArray, asJson, type Contract, type Place } from './specification.document.ts';
import { errorBody } from './specification.errors.ts';
import type { Rule } from './specification.notation.ts';
import { eventPayload, events, operations, type Operation } from './specification.operations.ts';
import { headerFaults, parameterFaults, parametersOf, signatureFaults } from './specification.parameters.ts';
import * as resources from './specification.resources.ts';

export interface Promised {
  group: string;
  name: string;
  faults: (contract: Contract) => Fault[];
}

const json = 'application/json';
const verbs = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];

export function unequal(
  aspect: Aspect,
  place: Place,
  expected: unknown,
  found: unknown = place.value,
): Fault[] {
  return isDeepStrictEqual(expected, found) ? [] : [{ aspect, pointer: place.pointer, expected, found }];
}

const keysOf = (place: Place): string[] => Object.keys(asJson(place.value)).sort();

function operationAt(contract: Contract, operation: Operation): Place {
  return contract.at(['paths', operation.path, operation.method]);
}

function responseAt(contract: Contract, operation: Operation, status: number): Place {
  return contract.at(['responses', String(status)], operationAt(contract, operation));
}

function answerAt(contract: Contract, operation: Operation, status: number): Place {
  return contract.at(['content', json, 'schema'], responseAt(contract, operation, status));
}

const fieldPromises: Record<Aspect, string> = {
  fields: 'has exactly the fields of the specification',
  presence: 'always has every field but those that the specification leaves out',
  null: 'has null exactly where the specification allows it',
  types: 'has the JSON types and formats of the specification',
  values: 'has exactly the constants and the whole value sets of the specification',
  limits: 'has exactly the lengths, patterns, ranges and defaults of the specification',
  closed: 'has no room for other properties',
};

/** One promise for each aspect of an object and of every object inside it. */
function tablePromises(
  group: string,
  name: string,
  rule: Rule,
  find: (contract: Contract) => Place,
): Promised[] {
  const own = Object.entries(fieldPromises).map(([aspect, promise]) => ({
    group,
    name: `${name} ${promise}`,
    faults: (contract: Contract) => {
      const place = find(contract);
      const faults = faultsOf(contract, rule, place, false);
      return faults.filter((fault) => fault.aspect === aspect || place.value === undefined);
    },
  }));
  const nested = Object.entries(rule.fields ?? {}).flatMap(([field, inner]) => {
    const entry = inner.items ?? inner;
    if (!entry.fields || entry.open) return [];
    return tablePromises(group, `${name}.${field}`, entry, (contract) => {
      const property = propertyAt(contract, find(contract), field);
      return inner.items ? itemsAt(contract, property) : property;
    });
  });
  return [...own, ...nested];
}

function propertyAt(contract: Contract, place: Place, field: string): Place {
  const missing = { pointer: `${place.pointer}/properties/${field}`, value: undefined };
  return contract.view(place).properties.get(field) ?? missing;
}

function itemsAt(contract: Contract, place: Place): Place {
  return contract.view(place).items ?? { pointer: `${place.pointer}/items`, value: undefined };
}

function operationById(id: string): Operation {
  const found = operations.find((operation) => operation.id === id);
  if (!found) throw new Error(`No operation ${id}`);
  return found;
}

/** A resource where the API shows it: alone, or as an item of a list. */
function resourcePromises(name: string, rule: Rule, id: string): Promised[] {
  const operation = operationById(id);
  return tablePromises('Resources', name, rule, (contract) => {
    const answer = answerAt(contract, operation, operation.success);
    if (operation.answer === rule) return answer;
    return itemsAt(contract, propertyAt(contract, answer, 'items'));
  });
}

function operationPromises(operation: Operation): Promised[] {
  const { id, scopes, success, errors, reserved } = operation;
  const statuses = [success, ...errors];
  const at = (contract: Contract): Place => operationAt(contract, operation);
  const promise = (name: string, faults: Promised['faults']): Promised => ({
    group: 'Operations',
    name,
    faults,
  });
  const extension = (contract: Contract, key: string): Place => contract.at([key], at(contract));
  return [
    promise(`${id} takes exactly the parameters of the specification`, (contract) =>
      parameterFaults(contract, operation, parametersOf(contract, operation)),
    ),
    promise(
      `${id} ${operation.body ? 'takes exactly the body' : 'takes no body,'} as the specification says`,
      (contract) => requestFaults(contract, operation),
    ),
    promise(`${id} needs the scope ${scopes.join(' or ')}`, (contract) => scopeFaults(contract, operation)),
    promise(`${id} declares exactly the statuses ${statuses.join(', ')}`, (contract) => {
      const responses = contract.at(['responses'], at(contract));
      return unequal('fields', responses, statuses.map(String).sort(), keysOf(responses));
    }),
    promise(`${id} answers ${success} with what the specification shows`, (contract) =>
      responseFaults(contract, operation, success, operation.answer),
    ),
    ...errors.map((status) =>
      promise(`${id} answers ${status} with the error body of the specification`, (contract) =>
        responseFaults(contract, operation, status, errorBody(status)),
      ),
    ),
    promise(`${id} declares exactly the headers that each answer carries`, (contract) =>
      statuses.flatMap((status) => headerFaults(contract, status, responseAt(contract, operation, status))),
    ),
    promise(`${id} marks as reserved exactly what can never happen, with a reason`, (contract) => {
      const place = extension(contract, 'x-reserved');
      const reasons = Object.values(asJson(place.value));
      const silent = reasons.filter((reason) => typeof reason !== 'string' || reason.trim().length < 10);
      return [
        ...unequal('values', place, reserved.map(String), keysOf(place)),
        ...unequal('values', place, [], silent),
        ...(reserved.length === 0 ? unequal('values', place, undefined) : []),
      ];
    }),
    promise(`${id} has the merchant scope "${operation.merchantScope}"`, (contract) =>
      unequal('values', extension(contract, 'x-merchant-scope'), operation.merchantScope),
    ),
    promise(
      `${id} has ${operation.rateLimit ? 'the rate limit of the specification' : 'no rate limit'}`,
      (contract) => unequal('limits', extension(contract, 'x-rate-limit'), operation.rateLimit),
    ),
  ];
}

function requestFaults(contract: Contract, operation: Operation): Fault[] {
  const request = contract.at(['requestBody'], operationAt(contract, operation));
  if (!operation.body) return unequal('fields', request, undefined);
  const content = contract.at(['content'], request);
  const schema = contract.at([json, 'schema'], content);
  return [
    ...unequal('presence', request, true, asJson(request.value)['required']),
    ...unequal('types', content, [json], keysOf(content)),
    ...faultsOf(contract, operation.body, schema, true),
    ...bodyFaults(contract, operation, schema),
  ];
}

function responseFaults(contract: Contract, operation: Operation, status: number, body: Rule): Fault[] {
  const content = contract.at(['content'], responseAt(contract, operation, status));
  return [
    ...unequal('types', content, [json], keysOf(content)),
    ...faultsOf(contract, body, answerAt(contract, operation, status), true),
  ];
}

function scopeFaults(contract: Contract, operation: Operation): Fault[] {
  const own = contract.at(['security'], operationAt(contract, operation));
  const place = own.value === undefined ? contract.at(['security']) : own;
  const [scheme, ...others] = Object.keys(asJson(contract.at(['components', 'securitySchemes']).value));
  const wanted = operation.scopes.map((scope) => ({ [scheme ?? 'none']: [scope] }));
  const inOrder = (list: unknown[]): string[] => list.map((entry) => JSON.stringify(entry)).sort();
  return [
    ...unequal('values', place, inOrder(wanted), inOrder(asArray(place.value))),
    ...unequal('values', contract.at(['components', 'securitySchemes']), [], others),
  ];
}

const documentPromises: Promised[] = [
  {
    group: 'Document',
    name: 'is an OpenAPI 3.1 document with a semantic version',
    faults: ({ document }) => {
      const version = asJson(document['info'])['version'];
      const right =
        /^3\.1\.\d+$/.test(String(document['openapi'])) && /^\d+\.\d+\.\d+$/.test(String(version));
      const found = { openapi: document['openapi'], version };
      return right ? [] : [{ aspect: 'values', pointer: '', expected: '3.1.x, and x.y.z', found }];
    },
  },
  {
    group: 'Document',
    name: 'has exactly the paths and methods of the specification, under the agreed names',
    faults: (contract) => {
      const paths = contract.at(['paths']);
      const found = keysOf(paths).flatMap((path) => {
        const item = contract.at([path], paths);
        const used = keysOf(item).filter((key) => verbs.includes(key));
        return used.map(
          (verb) => `${verb} ${path} ${String(asJson(asJson(item.value)[verb])['operationId'])}`,
        );
      });
      const wanted = operations.map(({ method, path, id }) => `${method} ${path} ${id}`);
      const known = new Set(operations.map(({ path }) => path));
      return [
        ...unequal('fields', paths, wanted.sort(), found.sort()),
        ...unequal('fields', paths, [...known].sort(), keysOf(paths)),
      ];
    },
  },
  {
    group: 'Document',
    name: 'is secured by JWT bearer tokens alone',
    faults: (contract) => {
      const schemes = contract.at(['components', 'securitySchemes']);
      const found = keysOf(schemes).map((name) => {
        const { type, scheme, bearerFormat } = asJson(contract.at([name], schemes).value);
        return { type, scheme, bearerFormat };
      });
      return unequal('values', schemes, [{ type: 'http', scheme: 'bearer', bearerFormat: 'JWT' }], found);
    },
  },
];

function webhookPromises(): Promised[] {
  const promise = (name: string, faults: Promised['faults']): Promised => ({
    group: 'Webhooks',
    name,
    faults,
  });
  const exactly = promise('are exactly the four events of the specification, each a POST', (contract) => {
    const webhooks = contract.at(['webhooks']);
    const found = keysOf(webhooks).map((name) => {
      const used = keysOf(contract.at([name], webhooks)).filter((key) => verbs.includes(key));
      return `${used.join(', ')} ${name}`;
    });
    const wanted = Object.keys(events).map((name) => `post ${name}`);
    return unequal('fields', webhooks, wanted.sort(), found.sort());
  });
  const perEvent = Object.entries(events).flatMap(([name, target]) => {
    const post = (contract: Contract): Place => contract.at(['webhooks', name, 'post']);
    return [
      promise(`${name} carries exactly the payload of the specification, target included`, (contract) => {
        const request = contract.at(['requestBody'], post(contract));
        const content = contract.at(['content'], request);
        return [
          ...unequal('presence', request, true, asJson(request.value)['required']),
          ...unequal('types', content, [json], keysOf(content)),
          ...faultsOf(contract, eventPayload(name, target), contract.at([json, 'schema'], content), true),
        ];
      }),
      promise(`${name} is sent with the headers of Standard Webhooks`, (contract) =>
        signatureFaults(contract, post(contract)),
      ),
    ];
  });
  return [exactly, ...perEvent];
}

export const promises: Promised[] = [
  ...documentPromises,
  ...resourcePromises('API key pair', resources.apiKeyPair, 'listApiKeyPairs'),
  ...resourcePromises('Gift card balance item', resources.giftCardBalance, 'checkGiftCardBalances'),
  ...resourcePromises('Payment method', resources.paymentMethod, 'createPaymentMethod'),
  ...resourcePromises('Transaction', resources.transaction, 'listTransactions'),
  ...resourcePromises('Card scheme definition', resources.cardSchemeDefinition, 'listCardSchemeDefinitions'),
  ...resourcePromises('Webhook subscription', resources.webhookSubscription, 'createWebhookSubscription'),
  ...resourcePromises(
    'Listed webhook subscription',
    resources.webhookSubscription,
    'listWebhookSubscriptions',
  ),
  ...operations.flatMap(operationPromises),
  ...webhookPromises(),
];
