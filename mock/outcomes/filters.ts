// Applies query filters to the example items by name: `status` is a property, `amount_gte` a bound on a property,
// `buyer_id` a property of a nested object. Filters on what items do not contain (`metadata`, `search`) are ignored.

type Item = Readonly<Record<string, unknown>>;

export const applyFilters = (items: readonly Item[], query: Readonly<Record<string, unknown>>): Item[] =>
  items.filter((item) => Object.entries(query).every(([name, wanted]) => matches(item, name, wanted)));

function matches(item: Item, name: string, wanted: unknown): boolean {
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

/** Undefined if items have no such property; `{value: null}` if the nested object of this item is null. */
function valueOf(item: Item, name: string): { value: unknown } | undefined {
  if (name in item) return { value: item[name] };
  const owner = Object.keys(item).find((key) => name.startsWith(`${key}_`));
  if (owner === undefined) return undefined;
  const nested = item[owner];
  if (nested === null) return { value: null };
  const key = name.slice(owner.length + 1);
  return typeof nested === 'object' && key in nested
    ? { value: (nested as Record<string, unknown>)[key] }
    : undefined;
}
