// Shows a text without some pieces of it.

export interface Hidden {
  from: number;
  to: number;
  /** What is shown instead. */
  mask: string;
}

/** Shows what begins before `end`. A piece that begins there is shown as its mask, whole; pieces that overlap become one. */
export function hide(text: string, pieces: Iterable<Hidden>, end = text.length): string {
  let shown = '';
  let past = 0;
  for (const { from, to, mask } of [...pieces].sort((one, other) => one.from - other.from)) {
    if (from >= end) break;
    if (from >= past) shown += text.slice(past, from) + mask;
    past = Math.max(past, to);
  }
  return shown + text.slice(past, end);
}
