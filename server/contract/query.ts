// The one query parser of the service. Express's parser stops after 1,000 parameters and at `#`, so a filter could be lost;
// and the validator and the explainer must see the same values. URLSearchParams reads what is not UTF-8 as U+FFFD, so two
// different values could become the same.
import type { Detail } from '../errors.ts';
import { mostFaults } from './bound-faults.ts';

export type Query = Record<string, string | string[]>;

export interface ParsedQuery {
  values: Query;
  /** Parameters whose percent-encoding is invalid; they are not in `values`. */
  faults: Detail[];
}

export function parseQuery(url: string): ParsedQuery {
  const [, text = ''] = url.split(/\?(.*)/s, 2);
  // Without a prototype, because parameters may be named `__proto__` or `constructor`.
  const values = Object.create(null) as Query;
  const malformed = new Set<string>();
  for (const part of text.split('&')) {
    if (part === '') continue;
    const [rawName = '', rawValue = ''] = part.split(/=(.*)/s, 2);
    const name = decode(rawName);
    const value = decode(rawValue);
    if (name === undefined || value === undefined) {
      if (malformed.size < mostFaults) malformed.add(name ?? rawName);
      continue;
    }
    const earlier = values[name];
    if (earlier === undefined) values[name] = value;
    else if (Array.isArray(earlier)) earlier.push(value);
    else values[name] = [earlier, value];
  }
  return {
    values,
    faults: [...malformed].map((name) => ({ location: 'query', pointer: pointerTo(name), ...badEncoding })),
  };
}

export const badEncoding = {
  message: 'is not valid percent-encoding of UTF-8',
  type: 'value_error.url_encoding',
};

const pointerTo = (name: string) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}
