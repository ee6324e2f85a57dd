// Ends what takes too long, or what the caller aborts.

/** A timer of more milliseconds, such as Infinity, would end at once. */
export const longestTimer = 2 ** 31 - 1;

/**
 * Runs `act` with a signal of its own and rejects when that aborts: with `signal`, or when the time is over. Its own, because in
 * Node.js requests stay attached to a shared signal, which leaks over many calls.
 */
export async function runUntil<T>(
  signal: AbortSignal | null | undefined,
  act: (own: AbortSignal) => Promise<T>,
  seconds?: number,
): Promise<T> {
  signal?.throwIfAborted();
  const controller = new AbortController();
  const { signal: own } = controller;
  const abort = () => {
    controller.abort(signal?.reason);
  };
  signal?.addEventListener('abort', abort, { once: true });
  const timer =
    seconds &&
    setTimeout(
      () => {
        controller.abort(new DOMException(`Nothing after ${seconds} s`, 'TimeoutError'));
      },
      Math.min(seconds * 1000, longestTimer),
    );
  // Also for a `token` function or a `fetch` of the caller's that does not know the signal.
  const aborted = new Promise<never>((_, reject) => {
    own.addEventListener('abort', () => {
      // An abort reason may be any value, and `fetch` rejects with it unchanged.
      // oxlint-disable-next-line typescript/prefer-promise-reject-errors
      reject(own.reason);
    });
  });
  try {
    return await Promise.race([act(own), aborted]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}
