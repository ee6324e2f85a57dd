/**
 * Calls the service and holds the answer against the contract: status declared, body of the declared shape, headers there.
 * What was seen is remembered, so that a test can tell whether every declared status of an operation was.
 */
import { expect } from 'vitest';
import type { OperationId } from '../../generated/operations.ts';
import { expectContract, type Answer as Judged } from './contract-check.ts';

interface Answer extends Judged {
  text: string;
}

export interface CallOptions {
  token?: string | undefined;
  body?: unknown;
  /** Sent as it stands. */
  raw?: string | Buffer;
  headers?: Record<string, string>;
}

export type Caller = (method: string, path: string, options?: CallOptions) => Promise<Answer>;

const seen = new Map<OperationId, Set<number>>();

/** What other test files of this worker have seen does not count. */
export const forgetObserved = (): void => {
  seen.clear();
};

export const observed = (id: OperationId): number[] => [...(seen.get(id) ?? [])].sort((a, b) => a - b);

export const createCaller =
  (url: string): Caller =>
  async (method, path, { token, body, raw, headers = {} } = {}) => {
    const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body));
    const response = await fetch(url + path, {
      method,
      headers: {
        ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
        ...(payload === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(payload === undefined ? {} : { body: payload as string }),
    });
    const text = await response.text();
    const answer = {
      status: response.status,
      headers: response.headers,
      body: JSON.parse(text) as never,
      text,
    };
    count(method, path, answer);
    return answer;
  };

/** What the service answers counts as seen, and must not be what the contract says never happens. */
function count(method: string, path: string, answer: Answer): void {
  const { status } = answer;
  for (const [id, { reserved }] of expectContract(method, path, answer)) {
    expect(reserved, `${id} answered ${status}, which the contract says never happens`).not.toContain(status);
    seen.set(id, (seen.get(id) ?? new Set()).add(status));
  }
}
