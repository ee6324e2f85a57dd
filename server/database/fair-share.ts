// Bounds how much of something (database connections, name lookups) one owner holds, a merchant account or a key pair, so that its
// slow requests cannot take all of it. Owners that hold nothing take no memory.

interface Share {
  held: number;
  waiting: (() => void)[];
}

export interface FairShare {
  /**
   * Waits for a place of the owner, in order, unless there is one. Returns what gives the place back, to the next who waits. Whoever
   * does not wait any longer gives it back when it comes.
   */
  enter: (owner: string) => (() => void) | Promise<() => void>;
  /** How many callers wait for a place. */
  waiting: () => number;
}

export function createFairShare(most: number): FairShare {
  const shares = new Map<string, Share>();
  const enter = (owner: string) => {
    const share = shares.get(owner) ?? { held: 0, waiting: [] };
    shares.set(owner, share);
    const leave = () => {
      const next = share.waiting.shift();
      if (next) next();
      else share.held -= 1;
      if (share.held === 0) shares.delete(owner);
    };
    if (share.held === most)
      return new Promise<() => void>((resolve) => {
        share.waiting.push(() => {
          resolve(leave);
        });
      });
    share.held += 1;
    return leave;
  };
  return { enter, waiting: () => [...shares.values()].reduce((sum, share) => sum + share.waiting.length, 0) };
}
