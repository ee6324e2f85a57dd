// Long work on many values, with pauses in which the process does what else is due: statements are sent and answers are read, so
// that the database is busy at the same time.
import { setImmediate } from 'node:timers/promises';

/** About two milliseconds of work on transactions. */
const sliceSize = 25;

export async function inSlices<Value>(
  values: Iterable<Value>,
  use: (value: Value, index: number) => void,
): Promise<void> {
  let index = 0;
  for (const value of values) {
    use(value, index);
    index += 1;
    if (index % sliceSize === 0) await setImmediate();
  }
}
