// The pause between two rounds of the worker, which ends early when there is something to do.

export interface Pause {
  /** Ends after this time, when `signal` is aborted, or, not before `least`, when the worker was woken since the last pause. */
  pause: (milliseconds: number, least?: number) => Promise<void>;
  wake: () => void;
}

export function createPause(usualLeast: number, signal: AbortSignal): Pause {
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
    async pause(milliseconds, least = usualLeast) {
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
