// Filters narrow a list as far as an item shows what they ask for: `status` is a property, `amount_gte` a bound on one,
// `buyer_id` a property of an object within. What an item does not show (`metadata`, `search`) lets everything through.

type Item = Readonly<Record<string, unknown>>;

export const narrow = (items: readonly Item[], query: Readonly<Record<string, unknown>>): Item[] =>
  items.filter((item) => Object.entries(query).every(([name, wanted]) => passes(item, name, wanted)));

function passes(item: Item, name: string, wanted: unknown): boolean {
  const [, bounded, bound] = /^(.+)_(eq|gte|lte)$/.exec(name) ?? [];
  if (bounded !== undefined && bounded in item) return compare(item[bounded], wanted, bound);
  const found = valueOf(item, name);
  return found === undefined || [wanted].flat().some((one) => one === found.value);
}

function compare(value: unknown, wanted: unknown, bound: string | undefined): boolean {
  const [left, right] = [value, wanted].map((one) =>
    typeof one === 'string' ? Date.parse(one) : Number(one),
  );
  if (left === undefined || right === undefined) return true;
  if (bound === 'gte') return left >= right;
  return bound === 'lte' ? left <= right : left === right;
}

/** Undefined when no item shows it; `{value: null}` when this one has none. */
function valueOf(item: Item, name: string): { value: unknown } | undefined {
  if (name in item) return { value: item[name] };
  const owner = Object.keys(item).find((key) => name.startsWith(`${key}_`));
  if (owner === undefined) return undefined;
  const within = item[owner];
  if (within === null) return { value: null };
  const part = name.slice(owner.length + 1);
  return typeof within === 'object' && part in within
    ? { value: (within as Record<string, unknown>)[part] }
    : undefined;
}
