// The `metadata` filter: JSON objects of strings, merged in order, so that the last value of a key wins.

interface Fault {
  loc: (string | number)[];
  msg: string;
  type: string;
}

/** `faults` names every text that is not a JSON object of strings. */
export function readMetadataFilter(texts: readonly string[]): {
  wanted: ReadonlyMap<string, string>;
  faults: Fault[];
} {
  const faults: Fault[] = [];
  // A map, because `__proto__` is a key like any other.
  const wanted = new Map<string, string>();
  for (const [index, text] of texts.entries()) {
    const entries = readEntries(text);
    if (entries) for (const [key, value] of entries) wanted.set(key, value);
    else
      faults.push({
        loc: ['query', 'metadata', index],
        msg: 'must be a JSON object whose values are strings, URL-encoded',
        type: 'value_error.metadata',
      });
  }
  return { wanted, faults };
}

function readEntries(text: string): [string, string][] | undefined {
  const value = parse(text);
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return undefined;
  const entries = Object.entries(value);
  return entries.every((entry): entry is [string, string] => typeof entry[1] === 'string')
    ? entries
    : undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
