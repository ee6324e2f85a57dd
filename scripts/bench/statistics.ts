// Medians and spreads. A median over interleaved rounds is not moved by one round that something else disturbed.

export interface Spread {
  median: number;
  low: number;
  high: number;
}

/** The value below which a share of the numbers lies, between the two nearest ones. */
export function percentile(numbers: readonly number[], share: number): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  const place = share * (sorted.length - 1);
  const [below = NaN, above = NaN] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]];
  return below + (above - below) * (place - Math.floor(place));
}

export const median = (numbers: readonly number[]): number => percentile(numbers, 0.5);

export const spread = (numbers: readonly number[]): Spread => ({
  median: median(numbers),
  low: Math.min(...numbers),
  high: Math.max(...numbers),
});
