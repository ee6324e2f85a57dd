// The outcome of a request: which response of the contract it gets, and which values of the request that response repeats.
import { isDeepStrictEqual } from 'node:util';
import type { Selection } from '../../server/kit/rules/accounts.ts';
import { successExamples, type MockOperation } from '../operations.ts';

export interface MockRequest {
  operation: MockOperation;
  query: Readonly<Record<string, unknown>>;
  body: unknown;
  account: Selection;
  /** The scopes of the token; all of them if the token is no JWT. */
  scopes: readonly string[];
  now: Date;
}

export interface Outcome {
  status: number;
  example?: string | undefined;
  /** For the request log. */
  why: string;
  /** Returns a copy of the example with values of the request in it. */
  fillExample?: (example: unknown) => unknown;
  delayMilliseconds?: number;
}

export type ChooseOutcome = (request: MockRequest) => Outcome;

/** If the body equals a request example of the contract, the response example of the same name. */
export function scenarioOf(
  { requestExamples, responseExamples }: MockOperation,
  body: unknown,
  accepts: (status: number) => boolean,
): Outcome | undefined {
  const [name] = [...requestExamples].find(([, example]) => isDeepStrictEqual(example, body)) ?? [];
  const response = responseExamples.find(({ example, status }) => example === name && accepts(status));
  return response && { ...response, why: `the request is the contract's example "${response.example}"` };
}

/** The default: the response example of the request example that was sent, or else the first success example. */
export const fromExamples: ChooseOutcome = ({ operation, body }) =>
  scenarioOf(operation, body, () => true) ?? {
    status: operation.successStatus,
    example: successExamples(operation)[0]?.example,
    why: 'the first example',
  };

/** The `merchant_account_id` of a created resource; null if it belongs to all accounts. */
export const accountId = (account: Selection): string | null => (account.kind === 'one' ? account.id : null);
