// Answers that are set beforehand, for a page under test, which sends no `Prefer`: by `mock.answer`, or by http/answers.ts. One table
// for the process.
import { ApiError, type Detail } from '../server/kit/errors.ts';
import type { LoadedContract } from './loaded-contract.ts';
import type { MockOperation } from './operations.ts';
import { readPreference, unavailable, type Asked, type Dynamic, type Preference } from './prefer.ts';

export interface Answers {
  /** Returns it in words. Throws an ApiError with the choices. */
  set: (operationId: string, answer: unknown) => string;
  /** The answer for a request of the operation. One for the next request is then gone. */
  take: (operationId: string) => Preference | undefined;
  /** Those that are set, in words. */
  list: () => { operation: string; answer: string }[];
  reset: () => void;
}

const properties = ['code', 'example', 'dynamic', 'seed', 'delay', 'retryAfter', 'body', 'once'];

/** Waiting for the next requests of an operation. */
const mostWaiting = 100;

export function createAnswers(contract: () => LoadedContract, dynamic?: Dynamic): Answers {
  const lasting = new Map<string, Preference>();
  const waiting = new Map<string, Preference[]>();
  return {
    set(id, answer) {
      const { operations, responses } = contract();
      const operation = operations.find((one) => one.id === id);
      if (!operation)
        throw unavailable(
          { location: 'path', pointer: '/operationId' },
          id.slice(0, 100),
          operations.map((one) => one.id),
        );
      const { once = false, body, ...given } = readProperties(answer);
      if (typeof once !== 'boolean') throw unavailable(at('once'), `once=${show(once)}`, ['true', 'false']);
      const set = read(operation, given, body, dynamic);
      const { choice } = set;
      const fault =
        choice && 'body' in choice ? responses.fault(operation.id, choice.status, choice.body) : undefined;
      if (fault !== undefined) throw refuse('body', `breaks the contract: ${fault}`);
      if (!once) {
        lasting.set(id, set);
        return set.says;
      }
      const queue = waiting.get(id) ?? [];
      if (queue.length >= mostWaiting)
        throw refuse('once', `waits ${mostWaiting} times already: reset first`);
      const says = `${set.says}, once`;
      waiting.set(id, [...queue, { ...set, says }]);
      return says;
    },
    take: (id) => waiting.get(id)?.shift() ?? lasting.get(id),
    list: () =>
      [...[...waiting].flatMap(([id, queue]) => queue.map((one) => [id, one] as const)), ...lasting].map(
        ([operation, { says }]) => ({ operation, answer: says }),
      ),
    reset() {
      lasting.clear();
      waiting.clear();
    },
  };
}

function readProperties(answer: unknown): Record<string, unknown> {
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer))
    throw refuse('', `must be an object with some of ${properties.join(', ')}`);
  const given = Object.entries(answer).filter(([, value]) => value !== undefined);
  const [unknown] = given.find(([name]) => !properties.includes(name)) ?? [];
  if (unknown !== undefined) throw unavailable(at(unknown), unknown.slice(0, 100), properties);
  return Object.fromEntries(given);
}

/** As Prefer is read. */
function read(
  operation: MockOperation,
  { retryAfter, ...others }: Record<string, unknown>,
  body: unknown,
  dynamic: Dynamic | undefined,
): Preference {
  const all = Object.entries({ ...others, ...(retryAfter !== undefined && { 'retry-after': retryAfter }) });
  const given: Asked['given'] = Object.fromEntries(all.map(([name, value]) => [name, show(value)]));
  // No values are made up for a body that is given.
  const byDefault = body === undefined ? dynamic : undefined;
  const usual = { says: '', delayMilliseconds: undefined, choice: undefined, isStatic: false };
  const preference = readPreference({ given, at }, operation, byDefault) ?? usual;
  const { says, choice } = preference;
  if (body === undefined) return { ...preference, says: says || 'as usual' };
  if (choice?.example !== undefined || choice?.seed !== undefined)
    throw refuse('body', 'cannot be combined with example or dynamic');
  const chosen = { status: operation.successStatus, ...choice, body };
  return { ...preference, says: says === '' ? 'a body' : `${says}, a body`, choice: chosen };
}

const show = (value: unknown): string =>
  (typeof value === 'string' ? value : JSON.stringify(value)).slice(0, 100);

const at = (name: string): Pick<Detail, 'location' | 'pointer'> => ({
  location: 'body',
  pointer: name && `/${name === 'retry-after' ? 'retryAfter' : name}`,
});

const refuse = (name: string, message: string) =>
  new ApiError('bad_request', { details: [{ ...at(name), message, type: 'value_error.answer' }] });
