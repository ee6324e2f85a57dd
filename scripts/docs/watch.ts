// Runs a task now and after every change, one run at a time. `redocly preview` would do it, but not without a network.
import { watch } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Editors write a file in several steps, and a branch switch changes many files: wait until it is quiet. */
const quietMilliseconds = 200;

export async function onChange(folders: string[], task: () => Promise<unknown>): Promise<never> {
  let changes = 0;
  let wake = () => {};
  for (const folder of folders)
    watch(folder, { recursive: true }, () => {
      changes += 1;
      wake();
    });
  for (;;) {
    const seen = changes;
    await task();
    if (changes === seen)
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    await quiet(() => changes);
  }
}

async function quiet(count: () => number): Promise<void> {
  for (let before = -1; before !== count();) {
    before = count();
    await sleep(quietMilliseconds);
  }
}
