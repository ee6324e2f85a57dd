// What the request's own values lead to: which of the contract's answers, and what that carries of the request.
import { isDeepStrictEqual } from 'node:util';
import type { Selection } from '../../server/http/merchant-account.ts';
import { successes, type MockOperation } from '../operations.ts';

export interface Asked {
  operation: MockOperation;
  query: Readonly<Record<string, unknown>>;
  body: unknown;
  account: Selection;
  now: Date;
}

export interface Outcome {
  status: number;
  example?: string | undefined;
  why: string;
  /** Puts into the example what was sent. Must leave the example as it is. */
  carry?: (example: unknown) => unknown;
  waitMilliseconds?: number;
}

export type Choose = (asked: Asked) => Outcome;

/** The scenario of the contract whose request example was sent as it stands, if its answer is among `statuses`. */
export function scenario(
  { requests, answers }: MockOperation,
  body: unknown,
  accepts: (status: number) => boolean,
): Outcome | undefined {
  const sent = [...requests].find(([, request]) => isDeepStrictEqual(request, body));
  const answer = sent && answers.find(({ example, status }) => example === sent[0] && accepts(status));
  return answer && { ...answer, why: `the request is the contract's example "${answer.example}"` };
}

/** For operations that nobody has taught the mock: the example that was sent, or else the first. */
export const byExample: Choose = ({ operation, body }) =>
  scenario(operation, body, () => true) ?? {
    status: operation.success,
    example: successes(operation)[0]?.example,
    why: 'the first example',
  };

/** The account as a created resource names it; a resource for all accounts names none. */
export const accountId = (account: Selection): string | null => (account.kind === 'one' ? account.id : null);
