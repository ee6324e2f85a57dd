// Bounds how much of something (database connections, name lookups) one owner holds, a merchant account or a key pair, so that its
// slow requests cannot take all of it. Owners that hold nothing take no memory.

export interface Entered {
  /** Undefined if the owner has the place already. Owners of the same share get theirs in the order in which they asked. */
  turn: Promise<void> | undefined;
  /** Gives the place back, to the next who waits; or does not wait for it any longer. */
  leave: () => void;
}

export interface FairShare {
  enter: (owner: string) => Entered;
  waiting: () => number;
}

interface Share {
  held: number;
  waiting: Set<() => void>;
}

export function createFairShare(most: number): FairShare {
  const shares = new Map<string, Share>();
  const enter = (owner: string): Entered => {
    const share = shares.get(owner) ?? { held: 0, waiting: new Set() };
    shares.set(owner, share);
    let begin: () => void = () => undefined;
    let turn: Promise<void> | undefined;
    if (share.held < most) share.held += 1;
    else {
      turn = new Promise((resolve) => (begin = resolve));
      share.waiting.add(begin);
    }
    const leave = () => {
      if (share.waiting.delete(begin)) return;
      const [next] = share.waiting;
      if (next) {
        share.waiting.delete(next);
        next();
      } else share.held -= 1;
      if (share.held === 0) shares.delete(owner);
    };
    return { turn, leave };
  };
  return { enter, waiting: () => [...shares.values()].reduce((sum, share) => sum + share.waiting.size, 0) };
}
