// When a call is tried again. 429 has changed nothing, so every call is; a lost connection or a 5xx may have, so only GET is.

export type Fetch = (request: Request) => Promise<Response>;
export type Sleep = (milliseconds: number, signal: AbortSignal) => Promise<void>;

export interface RetryOptions {
  /** How often a call is made at most; 1 switches trying again off. Default 3. */
  tries?: number | undefined;
  /** A `Retry-After` beyond this is not waited for: the 429 is answered at once. Default 60. */
  maxWaitSeconds?: number | undefined;
  /** For tests. Rejects when the signal aborts. */
  sleep?: Sleep | undefined;
}

const firstPauseSeconds = 0.5;

/** `fetch`, and again where that is safe. `prepare` is called before each try: a token may end while one waits. */
export function createRetryingFetch(
  fetch: Fetch,
  prepare: (request: Request) => Promise<void>,
  { tries = 3, maxWaitSeconds = 60, sleep = sleepFor }: RetryOptions = {},
): Fetch {
  return async (request) => {
    for (let attempt = 1; ; attempt += 1) {
      const isLast = attempt >= tries;
      // A request can be sent once only, because its body is a stream.
      const sent = isLast ? request : request.clone();
      await prepare(sent);
      const outcome = await settle(fetch(sent), request);
      const seconds = isLast ? undefined : pauseSeconds(request, outcome, attempt);
      if (seconds === undefined || seconds > maxWaitSeconds) {
        if (outcome instanceof Lost) throw outcome.error;
        return outcome;
      }
      if (!(outcome instanceof Lost)) await outcome.body?.cancel();
      await sleep(seconds * 1000, request.signal);
    }
  };
}

class Lost {
  readonly error: unknown;
  constructor(error: unknown) {
    this.error = error;
  }
}

async function settle(answer: Promise<Response>, { signal }: Request): Promise<Response | Lost> {
  try {
    return await answer;
  } catch (error) {
    if (signal.aborted) throw error;
    return new Lost(error);
  }
}

/** Undefined when the outcome is final. */
function pauseSeconds({ method }: Request, outcome: Response | Lost, attempt: number): number | undefined {
  const pause = firstPauseSeconds * 2 ** (attempt - 1);
  if (outcome instanceof Lost) return method === 'GET' ? pause : undefined;
  if (outcome.status === 429) return retryAfterSeconds(outcome) ?? pause;
  return outcome.status >= 500 && method === 'GET' ? (retryAfterSeconds(outcome) ?? pause) : undefined;
}

/** RFC 9110: seconds, or a date. */
function retryAfterSeconds({ headers }: Response): number | undefined {
  const text = headers.get('Retry-After')?.trim() ?? '';
  if (/^\d+$/.test(text)) return Number(text);
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, (date - Date.now()) / 1000);
}

const sleepFor: Sleep = (milliseconds, signal) =>
  new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const stop = () => {
      clearTimeout(timer);
      // The reason is the caller's own, whatever it is.
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, milliseconds);
    signal.addEventListener('abort', stop, { once: true });
  });
