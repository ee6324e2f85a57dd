/** Finds leaks. Other tests share the process, and V8 keeps what it has compiled, so one comparison would say little. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const mostRounds = 4;

/**
 * Whether every round adds this many megabytes to the heap, after a collection. A leak does so in every round, and everything
 * else only in some of them: so the first round that adds less ends it.
 */
export async function leaks(
  megabytes: number,
  round: (number: number) => Promise<unknown>,
): Promise<boolean> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  let before = -Infinity;
  for (let number = 0; number < mostRounds; number += 1) {
    await round(number);
    collect();
    const heap = process.memoryUsage().heapUsed / 1e6;
    if (heap - before < megabytes) return false;
    before = heap;
  }
  return true;
}
