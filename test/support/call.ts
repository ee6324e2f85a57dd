/**
 * Calls the service and validates the answer against the contract: status, body and headers. Records the statuses, so that a
 * test can check that every declared status of an operation was seen.
 */
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'vitest';
import type { OperationId } from '../../generated/operations.ts';
import { expectContract, type Answer as Judged } from './contract-check.ts';
import { explainIfTestFails } from './explain.ts';

interface Answer extends Judged {
  text: string;
}

export interface CallOptions {
  token?: string | undefined;
  body?: unknown;
  /** Sent unchanged. */
  raw?: string | Buffer;
  headers?: Record<string, string>;
}

export type Caller = (method: string, path: string, options?: CallOptions) => Promise<Answer>;

/** Sends bytes unchanged and reads until the connection is closed. */
export const sendBytes = (url: string, bytes: string | Buffer): Promise<string> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    let answer = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => (answer += chunk));
    socket.on('error', reject).on('end', () => {
      resolve(answer);
    });
    socket.write(bytes);
  });

const seen = new Map<OperationId, Set<number>>();

/** Forgets the statuses that other test files of this worker have seen. */
export const forgetObserved = (): void => {
  seen.clear();
};

export const observed = (id: OperationId): number[] => [...(seen.get(id) ?? [])].sort((a, b) => a - b);

/** `logs` are the lines of the service, which explain a refused request if the test fails. */
export const createCaller =
  (url: string, logs: readonly string[] = []): Caller =>
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
      body: (text === '' ? undefined : JSON.parse(text)) as never,
      text,
    };
    if (answer.status >= 400) explainIfTestFails(logs, answer.headers.get('x-request-id') ?? '');
    count(method, path, answer);
    return answer;
  };

/**
 * A starved service may only say "later": 429 if nothing was done, 504 if that is not known. Whoever repeats the request then gets its
 * answer; what writes needs an Idempotency-Key.
 */
export async function untilAnswered(ask: () => Promise<Answer>, tries = 20): Promise<Answer> {
  const answer = await ask();
  if (![429, 504].includes(answer.status) || tries === 1) return answer;
  await wait(100);
  return untilAnswered(ask, tries - 1);
}

/** Records the status. Fails if the contract says that the operation never answers with it. */
function count(method: string, path: string, answer: Answer): void {
  const { status } = answer;
  for (const [id, { reserved }] of expectContract(method, path, answer)) {
    expect(reserved, `${id} answered ${status}, which the contract says never happens`).not.toContain(status);
    seen.set(id, (seen.get(id) ?? new Set()).add(status));
  }
}
