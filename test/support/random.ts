/** The seed of random tests. It is the same in every run, unless SEED names another one: see global.ts. */
import fc from 'fast-check';
import { inject } from 'vitest';

export const seed = inject('seed');

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed });
