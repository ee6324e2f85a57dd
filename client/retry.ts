// Retries. After 429 nothing has changed, so every request is retried. After a network error or 5xx the service may have
// processed the request, so only GET is retried, and a write, because its Idempotency-Key keeps it from being done twice.
import { createConnectionError, readRetryAfter } from './errors.ts';
import { keyHeader } from './idempotency.ts';
import { longestTimer, runUntil } from './signal.ts';

export type Fetch = (request: Request) => Promise<Response>;
export type Sleep = (milliseconds: number, signal: AbortSignal) => Promise<void>;

export interface RetryOptions {
  /** Maximum number of attempts; 1 disables retries. Default 3. A new token after a 401 does not count. */
  tries?: number | undefined;
  /**
   * How long a call waits for its repetitions, all of them together. Where `Retry-After` is longer, the error is returned with
   * its `retryAfterSeconds`. Default 60, and 5 in a browser, where somebody waits for the page.
   */
  maxWaitSeconds?: number | undefined;
  /** How long each attempt may take, until its answer has come completely. Default 30. Then it counts as a lost connection. */
  timeoutSeconds?: number | undefined;
  /**
   * Called before the delay of each repetition, for a log or a notice on the page. What it throws ends the call. If it is
   * async, the delay begins when it is done.
   */
  onRetry?: ((retry: Retry) => unknown) | undefined;
  /** For tests. */
  sleep?: Sleep | undefined;
}

/** A request that is about to be sent again. */
export interface Retry {
  method: string;
  /** The path of the URL, without the query. */
  path: string;
  /** The number of the attempt that follows, from 2 on. Another token after a 401 is not told of. */
  attempt: number;
  /** The status of the answer that is the reason; 0 if there was none. */
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
export function createRetryingFetch(fetch: Fetch, authorize: Authorize, options: RetryOptions = {}): Fetch {
  const { tries = 3, timeoutSeconds = 30, onRetry, sleep = sleepFor } = options;
  const { maxWaitSeconds = 'window' in globalThis ? 5 : 60 } = options;
  const send = (request: Request) => outcomeOf(fetch, request, timeoutSeconds);
  return async (request) => {
    const { method, signal, url } = request;
    let hasRenewed = false;
    let waited = 0;
    for (let attempt = 1; ; attempt += 1) {
      const isLast = attempt >= tries;
      // The body is a stream and can be read only once, so a clone is sent.
      const sent = request.clone();
      const token = await runUntil(signal, () => authorize(sent));
      let outcome = await send(sent);
      // Refused before anything has happened, so writes are sent again, too. Once per call: a second 401 is final.
      if (token !== undefined && !hasRenewed && outcome.status === 401) {
        hasRenewed = true;
        const again = request.clone();
        if ((await runUntil(signal, () => authorize(again, token))) !== token) {
          await outcome.body?.cancel();
          outcome = await send(again);
        }
      }
      const isSafe = method === 'GET' || request.headers.has(keyHeader);
      const delay = isLast ? undefined : retryDelaySeconds(isSafe, outcome, attempt);
      if (delay === undefined || waited + delay > maxWaitSeconds) {
        if (hasFailed(outcome)) throw createConnectionError(request, outcome.error);
        return outcome;
      }
      waited += delay;
      await outcome.body?.cancel();
      const { pathname: path } = new URL(url);
      await onRetry?.({ method, path, attempt: attempt + 1, status: outcome.status, waitSeconds: delay });
      await runUntil(signal, (own) => sleep(delay * 1000, own));
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

async function outcomeOf(fetch: Fetch, request: Request, seconds: number): Promise<Outcome> {
  const { signal } = request;
  try {
    return await runUntil(
      signal,
      async (own) => {
        const whole = await fetch(new Request(request, { signal: own }));
        // Read to its end here, because a connection can also be lost in the middle of an answer.
        await whole.clone().arrayBuffer();
        return whole;
      },
      seconds,
    );
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

const sleepFor: Sleep = (milliseconds, signal) =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, Math.min(milliseconds, longestTimer));
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
    });
  });
