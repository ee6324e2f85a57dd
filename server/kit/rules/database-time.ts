// The clock that all instances share. Those of instances differ, sometimes by days.

declare const ofDatabase: unique symbol;

/**
 * A time by the clock of the database. What instances share is judged and stamped by it: how long things are kept, limits, schedules,
 * the times of events. A Date of this process does not compile there.
 */
export type DatabaseTime = Date & { readonly [ofDatabase]: true };

export const later = (time: DatabaseTime, milliseconds: number): DatabaseTime =>
  new Date(time.getTime() + milliseconds) as DatabaseTime;

export const earlier = (time: DatabaseTime, milliseconds: number): DatabaseTime => later(time, -milliseconds);

/** A clock that goes on from this time, for what begins a moment later. */
export function clockFrom(time: DatabaseTime): () => DatabaseTime {
  const read = performance.now();
  return () => later(time, performance.now() - read);
}
