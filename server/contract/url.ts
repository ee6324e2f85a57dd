// The one parser of paths and queries of the service. Express's query parser stops after 1,000 parameters and at `#`, so a filter
// could be lost; and the validator and the explainer must see the same values. URLSearchParams reads what is not UTF-8 as U+FFFD,
// so two different values could become the same.
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
    const name = decode(rawName.replaceAll('+', ' '));
    const value = decode(rawValue.replaceAll('+', ' '));
    if (name === undefined || value === undefined) {
      if (malformed.size < mostFaults) malformed.add(name ?? rawName);
      continue;
    }
    const earlier = values[name];
    if (earlier === undefined) values[name] = value;
    else if (Array.isArray(earlier)) earlier.push(value);
    else values[name] = [earlier, value];
  }
  return { values, faults: [...malformed].map((name) => badEncoding('query', name)) };
}

/** The path parameters by name; undefined where the percent-encoding is invalid. */
export function parsePath(template: string, url: string): Record<string, string | undefined> {
  const [path = ''] = url.split('?', 1);
  const segments = path.split('/');
  const parameters = template.split('/').flatMap((part, index) => {
    const name = /^\{(.+)\}$/.exec(part)?.[1];
    return name === undefined ? [] : [[name, decode(segments[index] ?? '')] as const];
  });
  return Object.fromEntries(parameters);
}

export const badEncoding = (location: 'path' | 'query', name: string): Detail => ({
  location,
  pointer: `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`,
  message: 'is not valid percent-encoding of UTF-8',
  type: 'value_error.url_encoding',
});

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
