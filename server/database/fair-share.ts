// Bounds how much of something (database connections, name lookups) one owner holds, a merchant account or a key pair, so that its
// slow requests cannot take all of it. Owners that hold nothing take no memory.

interface Share {
  held: number;
  waiting: (() => void)[];
}

export interface FairShare {
  /** Waits for a place of the owner, in order. Returns what gives the place back, to the next who waits. */
  enter: (owner: string) => Promise<() => void>;
  /** How many callers wait for a place. */
  waiting: () => number;
}

/** Without `waitMilliseconds`, the caller ends what waits too long. */
export function createFairShare(most: number, waitMilliseconds?: number): FairShare {
  const shares = new Map<string, Share>();
  const enter = async (owner: string) => {
    const share = shares.get(owner) ?? { held: 0, waiting: [] };
    shares.set(owner, share);
    if (share.held < most) share.held += 1;
    else await turnIn(share, waitMilliseconds);
    return () => {
      const next = share.waiting.shift();
      if (next) next();
      else share.held -= 1;
      if (share.held === 0) shares.delete(owner);
    };
  };
  return { enter, waiting: () => [...shares.values()].reduce((sum, share) => sum + share.waiting.length, 0) };
}

const turnIn = (share: Share, milliseconds: number | undefined) =>
  new Promise<void>((resolve, reject) => {
    const start = () => {
      clearTimeout(timer);
      resolve();
    };
    const giveUp = () => {
      share.waiting.splice(share.waiting.indexOf(start), 1);
      reject(new Error('too many slow requests of one merchant account or key pair'));
    };
    const timer = milliseconds === undefined ? undefined : setTimeout(giveUp, milliseconds);
    share.waiting.push(start);
  });
