// Bounds how many connections one owner (a merchant account, a key pair) holds, so that its slow requests cannot take all of them.
export class ShareExhausted extends Error {}

interface Share {
  held: number;
  waiting: (() => void)[];
}

export interface FairShare {
  /** Waits for a place of the owner, in order and for a limited time. Returns what gives the place back. */
  enter: (owner: string) => Promise<() => void>;
  /** How many callers wait for a place. */
  waiting: () => number;
}

export function createFairShare(mostOf: (owner: string) => number, waitMilliseconds: number): FairShare {
  const shares = new Map<string, Share>();
  const enter = async (owner: string) => {
    const share = shares.get(owner) ?? { held: 0, waiting: [] };
    shares.set(owner, share);
    if (share.held < mostOf(owner)) share.held += 1;
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

const turnIn = (share: Share, milliseconds: number) =>
  new Promise<void>((resolve, reject) => {
    const start = () => {
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(() => {
      share.waiting.splice(share.waiting.indexOf(start), 1);
      reject(new ShareExhausted('too many slow requests of one merchant account or key pair'));
    }, milliseconds);
    share.waiting.push(start);
  });
