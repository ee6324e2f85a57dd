// The pause between two fetches of the worker, which ends early when there is something to fetch.

export interface Pause {
  /** Ends after this time, when `signal` is aborted, or when the worker was woken since the last pause. */
  pause: (milliseconds: number) => Promise<void>;
  wake: () => void;
}

/** `least`: how long a pause takes in any case, so that what comes meanwhile is fetched together. */
export function createPause(least: number, signal: AbortSignal): Pause {
  let isWoken = false;
  let end: () => void = () => undefined;
  const sleep = (milliseconds: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      end = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  signal.addEventListener('abort', () => {
    end();
  });
  return {
    async pause(milliseconds) {
      const begun = performance.now();
      while (!signal.aborted) {
        const left = (isWoken ? Math.min(least, milliseconds) : milliseconds) - (performance.now() - begun);
        if (left <= 0) break;
        await sleep(left);
      }
      isWoken = false;
    },
    wake() {
      isWoken = true;
      end();
    },
  };
}
