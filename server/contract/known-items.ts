// Remembers which items were valid, so that an item that is sent again and again is parsed and validated once. It holds digests
// and never the items: they are personal data.
import { hash } from 'node:crypto';

export interface KnownItems {
  /** Validates the JSON unless it is known to be valid. Returns what is wrong with it. */
  fault: (schema: string, json: Buffer, faultOf: (json: Buffer) => string | undefined) => string | undefined;
}

/** In each of two generations. An entry takes about 100 bytes. */
const mostEntries = 20_000;

export function createKnownItems(most = mostEntries): KnownItems {
  let young = new Set<string>();
  let old = new Set<string>();
  // When a generation is full, the one before it is forgotten.
  const remember = (known: string) => {
    if (young.size >= most) {
      old = young;
      young = new Set();
    }
    young.add(known);
  };
  return {
    fault(schema, json, faultOf) {
      const known = `${hash('sha256', json, 'base64')} ${schema}`;
      if (young.has(known)) return undefined;
      const fault = old.has(known) ? undefined : faultOf(json);
      if (fault === undefined) remember(known);
      return fault;
    },
  };
}
