/** How many characters must be added, removed or replaced to make one text from the other (Levenshtein). */
export function editDistance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [at, character] of Array.from(one).entries()) {
    const next = [at + 1];
    for (const [index, compared] of Array.from(other).entries())
      next.push(
        Math.min(
          (row[index] ?? 0) + (character === compared ? 0 : 1),
          (row[index + 1] ?? 0) + 1,
          (next[index] ?? 0) + 1,
        ),
      );
    row = next;
  }
  return row.at(-1) ?? 0;
}

/** The name that was probably meant; undefined if none differs by at most `most` characters. */
export function nearest(
  name: string,
  names: readonly string[],
  most = Math.min(name.length / 2, Math.max(2, name.length / 4)),
): string | undefined {
  const ranked = names
    .map((other) => ({ other, distance: editDistance(name.toLowerCase(), other.toLowerCase()) }))
    .sort((a, b) => a.distance - b.distance);
  const [best] = ranked;
  return best && best.distance <= most ? best.other : undefined;
}
