/**
 * Seed and size of random tests. Without SEED the seed is always the same, and a quarter of the cases runs; with it all of
 * them run. `SEED=random` chooses a seed and prints it: see global.ts.
 */
import fc from 'fast-check';
import { inject } from 'vitest';

export const seed = inject('seed');

/** For a test of a case that takes long. */
export const allCases = process.env.SEED !== undefined;

const shareNow = (share: number) => (allCases ? 1 : share);

/** How many of this many cases run: without SEED a quarter, or another share. */
export const runs = (cases: number, share = 1 / 4) => Math.ceil(cases * shareNow(share));

/** These cases, or a quarter of them. */
export const shareOf = <T>(cases: readonly T[]): T[] =>
  cases.filter((_, index) => (index * shareNow(1 / 4)) % 1 === 0);

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed, numRuns: runs(600) });
