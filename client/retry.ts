// Retries. After 429 nothing has changed, so every request is retried. After a network error or 5xx the service may have
// processed the request, so only GET is retried, and a write, because its Idempotency-Key keeps it from being done twice.
import { createConnectionError, readRetryAfter } from './errors.ts';
import { keyHeader } from './idempotency.ts';

export type Fetch = (request: Request) => Promise<Response>;
export type Sleep = (milliseconds: number, signal: AbortSignal) => Promise<void>;

export interface RetryOptions {
  /** Maximum number of attempts; 1 disables retries. Default 3. A new token after a 401 does not count. */
  tries?: number | undefined;
  /** If `Retry-After` is longer than this, the response is returned without a retry. Default 60. */
  maxWaitSeconds?: number | undefined;
  /**
   * Called before the delay of each repetition, for a log or a notice on the page. What it throws ends the call. If it is
   * async, the delay begins when it is done.
   */
  onRetry?: ((retry: Retry) => unknown) | undefined;
  /** For tests. Must reject when the signal aborts. */
  sleep?: Sleep | undefined;
}

/** A request that is about to be sent again. */
export interface Retry {
  method: string;
  /** Of the URL, without the query. */
  path: string;
  /** The number of the attempt that follows, from 2 on. Another token after a 401 is not told of. */
  attempt: number;
  /** Of the answer that is the reason; 0 if there was none. */
  status: number;
  waitSeconds: number;
}

const firstDelaySeconds = 0.5;

/**
 * Adds the token, before each attempt, because it may expire during the delay. Returns the token if there may be another one in its
 * place; `refused` is the one that the service refused with 401.
 */
export type Authorize = (request: Request, refused?: string) => Promise<string | undefined>;

/** `fetch` with retries, and with one more request after a 401, if there is another token then. */
export function createRetryingFetch(
  fetch: Fetch,
  authorize: Authorize,
  { tries = 3, maxWaitSeconds = 60, onRetry, sleep = sleepFor }: RetryOptions = {},
): Fetch {
  return async (request) => {
    let hasRenewed = false;
    for (let attempt = 1; ; attempt += 1) {
      const isLast = attempt >= tries;
      // The body is a stream and can be read only once, so a clone is sent.
      const sent = request.clone();
      const token = await orAbort(authorize(sent), request.signal);
      let outcome = await outcomeOf(fetch(sent), request);
      // Refused before anything has happened, so writes are sent again, too. Once per call: a second 401 is final.
      if (token !== undefined && !hasRenewed && outcome.status === 401) {
        hasRenewed = true;
        const again = request.clone();
        if ((await orAbort(authorize(again, token), request.signal)) !== token) {
          await outcome.body?.cancel();
          outcome = await outcomeOf(fetch(again), request);
        }
      }
      const isSafe = request.method === 'GET' || request.headers.has(keyHeader);
      const delay = isLast ? undefined : retryDelaySeconds(isSafe, outcome, attempt);
      if (delay === undefined || delay > maxWaitSeconds) {
        if (hasFailed(outcome)) throw createConnectionError(request, outcome.error);
        return outcome;
      }
      await outcome.body?.cancel();
      const { method, url } = request;
      const { pathname: path } = new URL(url);
      await onRetry?.({ method, path, attempt: attempt + 1, status: outcome.status, waitSeconds: delay });
      await sleep(delay * 1000, request.signal);
    }
  };
}

/** A connection that failed. Not a class, which would be more code on every page. */
interface NetworkFailure {
  status: 0;
  body?: undefined;
  error: unknown;
}

type Outcome = Response | NetworkFailure;

const hasFailed = (outcome: Outcome): outcome is NetworkFailure => 'error' in outcome;

async function outcomeOf(response: Promise<Response>, { signal }: Request): Promise<Outcome> {
  try {
    const whole = await response;
    // Read to its end here, because a connection can also be lost in the middle of an answer.
    await whole.clone().arrayBuffer();
    return whole;
  } catch (error) {
    if (signal.aborted) throw error;
    return { status: 0, error };
  }
}

/** Undefined if the request must not be retried. `isSafe`: it may be sent again although it may have been processed. */
function retryDelaySeconds(isSafe: boolean, outcome: Outcome, attempt: number): number | undefined {
  const backoff = firstDelaySeconds * 2 ** (attempt - 1);
  if (hasFailed(outcome)) return isSafe ? backoff : undefined;
  if (outcome.status === 429) return readRetryAfter(outcome) ?? backoff;
  return outcome.status >= 500 && isSafe ? (readRetryAfter(outcome) ?? backoff) : undefined;
}

/** Rejects when the signal aborts, because a `token` function that waits for a backend or a login does not see the signal. */
const orAbort = <T>(promise: Promise<T>, signal: AbortSignal): Promise<T> =>
  new Promise((resolve, reject) => {
    const stop = () => {
      // See `sleepFor`.
      // oxlint-disable-next-line typescript/prefer-promise-reject-errors
      reject(signal.reason);
    };
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    void promise.then(resolve, reject).finally(() => {
      signal.removeEventListener('abort', stop);
    });
  });

const sleepFor: Sleep = (milliseconds, signal) =>
  new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const stop = () => {
      clearTimeout(timer);
      // An abort reason may be any value, and `fetch` rejects with it unchanged.
      // oxlint-disable-next-line typescript/prefer-promise-reject-errors
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, milliseconds);
    signal.addEventListener('abort', stop, { once: true });
  });
