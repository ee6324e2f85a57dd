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
