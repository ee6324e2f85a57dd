// Bounds how many requests of one caller run at once, so that slow ones cannot take all database connections.
import { ApiError } from '../errors.ts';

export type FairShare = <T>(key: string, work: () => Promise<T>) => Promise<T>;

interface Share {
  running: number;
  waiting: (() => void)[];
}

/** At most `most` run at once per key. The others wait in order, each for so long, and are then answered with 500. */
export function createFairShare(most: number, waitMilliseconds: number): FairShare {
  const shares = new Map<string, Share>();
  return async (key, work) => {
    const share = shares.get(key) ?? { running: 0, waiting: [] };
    shares.set(key, share);
    if (share.running < most) share.running += 1;
    else await turnOf(share, waitMilliseconds);
    try {
      return await work();
    } finally {
      const next = share.waiting.shift();
      if (next) next();
      else share.running -= 1;
      if (share.running === 0) shares.delete(key);
    }
  };
}

const turnOf = (share: Share, milliseconds: number) =>
  new Promise<void>((resolve, reject) => {
    const start = () => {
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(() => {
      share.waiting.splice(share.waiting.indexOf(start), 1);
      reject(new ApiError('server_error', { reason: 'too many slow requests of this merchant account' }));
    }, milliseconds);
    share.waiting.push(start);
  });
