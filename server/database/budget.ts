// How long a request may wait for the database, all statements together: a database that is frozen or slow must not keep a
// caller waiting. What runs outside of a request has no budget. It is handed over and not kept in an AsyncLocalStorage, which would
// cost Node 20 a tenth of a request.
export interface Budget {
  /** Milliseconds. */
  left: number;
}

/** The database did not answer in time. Whether it carried out the last statement is unknown. */
export class DatabaseTimeout extends Error {}

/**
 * Waits for `work` until its own limit or the budget of the request ends. Then it calls `giveUp`, which must end what is under
 * way, and fails.
 */
export async function withinBudget<T>(
  budget: Budget | undefined,
  limitMilliseconds: number,
  work: () => Promise<T>,
  giveUp: (error: DatabaseTimeout, working: Promise<T>) => void,
): Promise<T> {
  const milliseconds = Math.min(limitMilliseconds, budget?.left ?? Infinity);
  if (milliseconds === Infinity) return work();
  if (milliseconds <= 0) throw new DatabaseTimeout('the request has waited too long for the database');
  const begun = performance.now();
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise<T>((resolve, reject) => {
      const working = work();
      working.then(resolve, reject);
      timer = setTimeout(() => {
        const error = new DatabaseTimeout(
          `the database did not answer within ${Math.round(milliseconds)} ms`,
        );
        reject(error);
        giveUp(error, working);
      }, milliseconds);
    });
  } finally {
    clearTimeout(timer);
    if (budget) budget.left -= performance.now() - begun;
  }
}
