/** The promises of the document as a whole, and of its webhooks. */
import { additions, faultsOf } from './checker.ts';
import { asJson, type Contract, type Place } from './document.ts';
import { eventPayload, events, operations } from './operations.ts';
import { signatureFaults } from './parameters.ts';
import { json, keysOf, unequal, verbs, type Promised } from './promised.ts';

export const documentPromises: Promised[] = [
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
    name: 'has the paths and methods of the specification, under the agreed names',
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
      const missing = wanted.filter((operation) => !found.includes(operation));
      const extra = found.filter((operation) => !wanted.includes(operation)).map((one) => one.split(' '));
      return [
        ...unequal('fields', paths, [], missing),
        ...additions(
          'fields',
          paths,
          extra.map(([verb = '', path = '']) => `${verb.toUpperCase()} ${path}`),
        ),
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

export function webhookPromises(): Promised[] {
  const promise = (name: string, faults: Promised['faults']): Promised => ({
    group: 'Webhooks',
    name,
    faults,
  });
  const every = promise('are the four events of the specification, each a POST', (contract) => {
    const webhooks = contract.at(['webhooks']);
    const found = keysOf(webhooks).map((name) => {
      const used = keysOf(contract.at([name], webhooks)).filter((key) => verbs.includes(key));
      return `${used.join(', ')} ${name}`;
    });
    const wanted = Object.keys(events).map((name) => `post ${name}`);
    const missing = wanted.filter((event) => !found.includes(event));
    const extra = found.filter((event) => !wanted.includes(event));
    return [
      ...unequal('fields', webhooks, [], missing),
      ...additions(
        'fields',
        webhooks,
        extra.map((event) => event.replace(/^post /, '')),
      ),
    ];
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
  return [every, ...perEvent];
}
