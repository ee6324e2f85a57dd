// The validators that `npm run generate` compiled. They spare every start half a second, but fit only the contract that they
// were compiled from, so each use compares its digest.
import { createHash } from 'node:crypto';
import * as generated from '../../generated/validators.js';
import { allFormats } from './formats.ts';
import type { Contract } from './load.ts';

export const textDigest = (text: string): string => createHash('sha256').update(text).digest('hex');

/** By the keys of response-schemas.ts; undefined for any contract but the generated one. */
export function compiledValidators({ text }: Contract): ReadonlyMap<string, generated.Validator> | undefined {
  if (textDigest(text) !== generated.digest) return undefined;
  return new Map(Object.entries(generated.validators(allFormats)));
}
