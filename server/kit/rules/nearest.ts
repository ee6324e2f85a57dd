/** How many characters must be added, removed or replaced, or swapped with their neighbour, to make one text from the other. */
export function editDistance(one: string, other: string): number {
  const [left, right] = [Array.from(one), Array.from(other)];
  let before: number[] = [];
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (const [at, character] of left.entries()) {
    const next = [at + 1];
    for (const [index, compared] of right.entries()) {
      const isSwapped = character === right[index - 1] && compared === left[at - 1];
      next.push(
        Math.min(
          (row[index] ?? 0) + (character === compared ? 0 : 1),
          (row[index + 1] ?? 0) + 1,
          (next[index] ?? 0) + 1,
          isSwapped ? (before[index - 1] ?? 0) + 1 : Infinity,
        ),
      );
    }
    before = row;
    row = next;
  }
  return row.at(-1) ?? 0;
}

export function nearest(
  name: string,
  names: readonly string[],
  most = Math.min(name.length / 2, Math.max(2, name.length / 4)),
): string | undefined {
  const { length } = Array.from(name);
  const ranked = names
    // The distance is at least the difference of the lengths, so most names need no comparison.
    .filter((other) => Math.abs(Array.from(other).length - length) <= most)
    .map((other) => ({ other, distance: editDistance(name.toLowerCase(), other.toLowerCase()) }))
    .sort((a, b) => a.distance - b.distance);
  const [best] = ranked;
  return best && best.distance <= most ? best.other : undefined;
}
