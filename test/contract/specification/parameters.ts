/** Query parameters, request headers and response headers. */
import { isDeepStrictEqual } from 'node:util';
import { additions, faultsOf, type Fault } from './checker.ts';
import { asArray, asJson, childOf, isAnnotation, type Contract, type Place } from './document.ts';
import { anything, boolean, integer, perhaps, string, type Rule } from './notation.ts';
import type { Operation } from './operations.ts';

const merchantAccount = 'X-Service-Merchant-Account-ID';

/** Every operation has the first; those that write have both. */
const requestHeaders = ({ takesKey }: Operation): Record<string, Rule> => ({
  [merchantAccount]: string({ minLength: 1, maxLength: 255, pattern: '^[ -~]+$' }),
  ...(takesKey ? { 'Idempotency-Key': idempotencyKey } : {}),
});

/** Printable ASCII. */
const idempotencyKey: Rule = {
  ...perhaps(string({ minLength: 1, maxLength: 255 }), { pattern: anything }),
  accepts: ['a', 'a b', '~!"#', 'x'.repeat(255)],
  refuses: ['', 'ü', 'a\tb', '\u007f', 'x'.repeat(256)],
};

const marker = 'Idempotency-Replayed';

/** `must`: answers that are repeated, and 500. `may`: shared with operations that take no key. */
function markedAs({ takesKey }: Operation, status: number): 'must' | 'may' | 'never' {
  if (takesKey && (status < 300 || status === 422)) return 'must';
  if (![404, 409, 500].includes(status)) return 'never';
  return takesKey ? 'must' : 'may';
}

/** Seconds since 1970; one signature for each valid secret, separated by spaces. */
const signatureHeaders: Record<string, Rule> = {
  'webhook-id': perhaps(string(), { format: 'uuid' }),
  'webhook-timestamp': { ...perhaps(string(), { pattern: anything }), accepts: ['1794700845'] },
  'webhook-signature': {
    ...perhaps(string(), { pattern: anything }),
    accepts: ['v1,YQ==', 'v1,YQ== v1,Yg=='],
  },
};

function responseHeaders(status: number): Record<string, Rule> {
  return {
    'X-Request-ID': string(),
    ...(status === 401 ? { 'WWW-Authenticate': string() } : {}),
    ...(status === 405 ? { Allow: string() } : {}),
    ...(status === 429 ? { 'Retry-After': perhaps(integer(), { minimum: 1 }) } : {}),
  };
}

/** The parameters of an operation, those of its path included. */
export function parametersOf(contract: Contract, operation: Operation): Place[] {
  const path = contract.at(['paths', operation.path]);
  const own = contract.at([operation.method], path);
  return [...listAt(contract, path), ...listAt(contract, own)];
}

function listAt(contract: Contract, place: Place): Place[] {
  const list = childOf(place, 'parameters');
  return asArray(list.value).map((_, index) => contract.follow(childOf(list, index)));
}

export function parameterFaults(contract: Contract, operation: Operation, parameters: Place[]): Fault[] {
  const at = contract.at(['paths', operation.path, operation.method]);
  const isAddition = ({ value }: Place) => {
    const { in: where, required } = asJson(value);
    return where === 'query' && required !== true && !(nameOf(value) in operation.query);
  };
  const names = parameters
    .filter((parameter) => !isAddition(parameter))
    .map(({ value }) => `${String(asJson(value)['in'])} ${nameOf(value)}`)
    .sort();
  const wanted = [
    ...Object.keys(operation.query).map((name) => `query ${name}`),
    ...Object.keys(requestHeaders(operation)).map((name) => `header ${name}`),
  ].sort();
  return [
    ...unequalNames(at, wanted, names),
    ...additions(
      'fields',
      at,
      parameters.filter(isAddition).map(({ value }) => nameOf(value)),
    ),
    ...parameters.flatMap((parameter) => {
      const { in: where } = asJson(parameter.value);
      const rules = where === 'query' ? operation.query : requestHeaders(operation);
      const rule = rules[nameOf(parameter.value)];
      return rule ? oneParameterFaults(contract, rule, parameter, false) : [];
    }),
  ];
}

/** The three headers that sign a delivery, each always sent. */
export function signatureFaults(contract: Contract, post: Place): Fault[] {
  const parameters = listAt(contract, post);
  const names = parameters.map(({ value }) => `${String(asJson(value)['in'])} ${nameOf(value)}`).sort();
  const wanted = Object.keys(signatureHeaders).map((name) => `header ${name}`);
  return [
    ...unequalNames(post, wanted.sort(), names),
    ...parameters.flatMap((parameter) => {
      const rule = signatureHeaders[nameOf(parameter.value)];
      return rule ? oneParameterFaults(contract, rule, parameter, true) : [];
    }),
  ];
}

export function headerFaults(
  contract: Contract,
  operation: Operation,
  status: number,
  response: Place,
): Fault[] {
  const headers = contract.at(['headers'], response);
  const rules = responseHeaders(status);
  const marked = markedAs(operation, status);
  const found = Object.keys(asJson(headers.value)).filter((name) => name !== marker || marked !== 'may');
  const wanted = [...Object.keys(rules), ...(marked === 'must' ? [marker] : [])];
  const mark = contract.at([marker], headers);
  return [
    ...unequalNames(headers, wanted.sort(), found.sort()),
    ...(mark.value === undefined ? [] : faultsOf(contract, boolean(), childOf(mark, 'schema'), true)),
    ...Object.entries(rules).flatMap(([name, rule]) => {
      const header = contract.at([name], headers);
      if (header.value === undefined) return [];
      const always = asJson(header.value)['required'] === true;
      const missing = {
        aspect: 'presence' as const,
        pointer: header.pointer,
        expected: 'required',
        found: 'not required',
      };
      return [...(always ? [] : [missing]), ...faultsOf(contract, rule, childOf(header, 'schema'), true)];
    }),
  ];
}

function nameOf(parameter: unknown): string {
  return String(asJson(parameter)['name']);
}

function unequalNames(place: Place, expected: string[], found: string[]): Fault[] {
  if (isDeepStrictEqual(expected, found)) return [];
  const missing = expected.filter((name) => !found.includes(name));
  const extra = found.filter((name, index) => !expected.includes(name) || found.indexOf(name) !== index);
  return [{ aspect: 'fields', pointer: place.pointer, expected: { missing }, found: { extra } }];
}

/** Lists are repeated keys (`status=a&status=b`): style form, exploded, which is also the default of a query. */
function oneParameterFaults(contract: Contract, rule: Rule, parameter: Place, required: boolean): Fault[] {
  const given = asJson(parameter.value);
  const style = given['in'] === 'query' ? 'form' : 'simple';
  const expected = { required, style, explode: style === 'form', others: [] };
  const known = ['name', 'in', 'required', 'schema', 'style', 'explode'];
  const found = {
    required: given['required'] ?? false,
    style: given['style'] ?? style,
    explode: given['explode'] ?? expected.explode,
    others: Object.keys(given).filter((key) => !known.includes(key) && !isAnnotation(key)),
  };
  const same = isDeepStrictEqual(expected, found);
  return [
    ...(same ? [] : [{ aspect: 'types' as const, pointer: parameter.pointer, expected, found }]),
    ...faultsOf(contract, rule, childOf(parameter, 'schema'), true),
  ];
}
