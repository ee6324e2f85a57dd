// Remembers which texts were valid, so that an item that is sent again and again is parsed and validated once. It holds keyed
// digests and never the texts: they are personal data.
import { hash, randomBytes } from 'node:crypto';

export interface ValidatedTexts {
  /** Validates the text unless it is known to be valid. Returns what is wrong with it. */
  fault: (schema: string, text: string, faultOf: (text: string) => string | undefined) => string | undefined;
}

/** In each of two generations. An entry takes about 100 bytes. */
const mostEntries = 20_000;

export function createValidatedTexts(most = mostEntries): ValidatedTexts {
  const key = randomBytes(32).toString('base64');
  let young = new Set<string>();
  let old = new Set<string>();
  // When a generation is full, the one before it is forgotten.
  const remember = (digest: string) => {
    if (young.size >= most) {
      old = young;
      young = new Set();
    }
    young.add(digest);
  };
  return {
    fault(schema, text, faultOf) {
      const digest = hash('sha256', `${key}${schema} ${text}`, 'base64');
      if (young.has(digest)) return undefined;
      const fault = old.has(digest) ? undefined : faultOf(text);
      if (fault === undefined) remember(digest);
      return fault;
    },
  };
}
