// The one query parser of the service. Express's parser stops after 1,000 parameters and at `#`, so a filter could be lost;
// and the validator and the explainer must see the same values.

export type Query = Record<string, string | string[]>;

export function parseQuery(url: string): Query {
  const [, text = ''] = url.split(/\?(.*)/s, 2);
  // Without a prototype, because parameters may be named `__proto__` or `constructor`.
  const query = Object.create(null) as Query;
  for (const [name, value] of new URLSearchParams(text)) {
    const earlier = query[name];
    if (earlier === undefined) query[name] = value;
    else if (Array.isArray(earlier)) earlier.push(value);
    else query[name] = [earlier, value];
  }
  return query;
}
