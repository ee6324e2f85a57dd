/** Finds leaks. Other tests share the process, and V8 keeps what it has compiled, so one comparison would say little. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const mostRounds = 4;

/**
 * Megabytes that a round adds to the heap, after a collection. A leak adds to it in every round, and everything else only in
 * some of them: so the least of several rounds is what leaks.
 */
export async function leakOf(round: (number: number) => Promise<unknown>): Promise<number> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const heaps: number[] = [];
  for (let number = 0; number < mostRounds; number += 1) {
    await round(number);
    collect();
    heaps.push(process.memoryUsage().heapUsed / 1e6);
  }
  return Math.min(...heaps.slice(1).map((heap, index) => heap - (heaps[index] ?? 0)));
}
