/** What a promise is, and how to find one's way in the contract. */
import { isDeepStrictEqual } from 'node:util';
import type { Aspect, Fault } from './checker.ts';
import { asJson, type Contract, type Place } from './document.ts';
import type { Operation } from './operations.ts';

/** A promise of the specification: a name, and what is wrong with a contract that does not keep it. */
export interface Promised {
  group: string;
  name: string;
  faults: (contract: Contract) => Fault[];
}

export const json = 'application/json';
export const verbs = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];

export function unequal(
  aspect: Aspect,
  place: Place,
  expected: unknown,
  found: unknown = place.value,
): Fault[] {
  return isDeepStrictEqual(expected, found) ? [] : [{ aspect, pointer: place.pointer, expected, found }];
}

export const keysOf = (place: Place): string[] => Object.keys(asJson(place.value)).sort();

export function operationAt(contract: Contract, operation: Operation): Place {
  return contract.at(['paths', operation.path, operation.method]);
}

export function responseAt(contract: Contract, operation: Operation, status: number): Place {
  return contract.at(['responses', String(status)], operationAt(contract, operation));
}

export function answerAt(contract: Contract, operation: Operation, status: number): Place {
  return contract.at(['content', json, 'schema'], responseAt(contract, operation, status));
}
