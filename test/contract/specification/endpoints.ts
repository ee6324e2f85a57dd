/** The promises of each operation: parameters, bodies, statuses, scopes, headers, extensions. */
import { bodyFaults } from './bodies.ts';
import { additions, faultsOf, type Fault } from './checker.ts';
import { asArray, asJson, type Contract, type Place } from './document.ts';
import { errorBody, errorFacts, isSpecified } from './errors.ts';
import type { Rule } from './notation.ts';
import type { Operation } from './operations.ts';
import { headerFaults, parameterFaults, parametersOf } from './parameters.ts';
import { answerAt, json, keysOf, operationAt, responseAt, unequal, type Promised } from './promised.ts';

export function operationPromises(operation: Operation): Promised[] {
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
      const found = keysOf(responses);
      const missing = statuses.map(String).filter((status) => !found.includes(status));
      const extra = found.filter((status) => !statuses.includes(Number(status)));
      return [...unequal('fields', responses, [], missing), ...additions('fields', responses, extra)];
    }),
    promise(`${id} answers ${success} with what the specification shows`, (contract) =>
      responseFaults(contract, operation, success, operation.answer),
    ),
    ...errors.map((status) =>
      promise(`${id} answers ${status} with the error body of the specification`, (contract) =>
        responseFaults(contract, operation, status, errorBody(status)),
      ),
    ),
    promise(`${id} shows errors with the codes and messages of the specification`, (contract) =>
      errors.flatMap((status) => exampleFaults(contract, status, responseAt(contract, operation, status))),
    ),
    promise(`${id} declares exactly the headers that each answer carries`, (contract) =>
      statuses.flatMap((status) =>
        headerFaults(contract, operation, status, responseAt(contract, operation, status)),
      ),
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

/** The table "Codes" shows in the examples alone: the body is one schema for all statuses. */
function exampleFaults(contract: Contract, status: number, response: Place): Fault[] {
  const content = contract.at(['content', json], response);
  const named = contract.at(['examples'], content);
  const shown = [
    contract.at(['example'], content),
    ...keysOf(named).map((name) => contract.at([name, 'value'], named)),
  ].filter(({ value }) => value !== undefined);
  if (status === 422) return shown.flatMap((place) => unequal('values', place, ['detail'], keysOf(place)));
  return shown.flatMap((place) => {
    const facts = errorFacts(status);
    const value = asJson(place.value);
    const code = String(value['code']);
    // A code that the specification does not have comes with a message of its own.
    if (!isSpecified(code))
      return [
        ...unequal(
          'values',
          place,
          { type: 'error', status },
          { type: value['type'], status: value['status'] },
        ),
        ...additions('values', place, [code]),
      ];
    const given = Object.entries(value).filter(([key]) => key in facts);
    return unequal('values', place, facts, Object.fromEntries(given));
  });
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
