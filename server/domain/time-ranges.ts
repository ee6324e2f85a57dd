// Which ranges of time the partitions of a table have.

export interface TimeRange {
  from: Date;
  /** Exclusive. */
  to: Date;
}

const day = 86_400_000;
/** A Monday, so that weeks begin on Mondays. */
const origin = Date.UTC(1970, 0, 5);
const rangesAhead = 3;

/**
 * Days in one partition. Records are kept for up to one partition longer than asked for, and a statement that does not name a time
 * reads all partitions, so there should be few of them.
 */
export function partitionDays(retentionDays: number): number {
  if (retentionDays <= 14) return 1;
  return retentionDays <= 180 ? 7 : 30;
}

/** The ranges that are missing around `now`, the current one first. Leaves out what others cover. */
export function missingRanges(others: readonly TimeRange[], now: Date, days: number): TimeRange[] {
  const length = days * day;
  const current = origin + Math.floor((now.getTime() - origin) / length) * length;
  return Array.from({ length: rangesAhead + 1 }, (_, index) => {
    const to = new Date(current + (index + 1) * length);
    const overlapping = others.filter(
      (other) => other.from < to && other.to.getTime() > to.getTime() - length,
    );
    const from = Math.max(to.getTime() - length, ...overlapping.map((other) => other.to.getTime()));
    return { from: new Date(from), to };
  }).filter(({ from, to }) => from < to);
}
