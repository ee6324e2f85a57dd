// Shows the progress of long commands: at any time on a terminal, otherwise a line on standard error now and then.
import ora from 'ora';
import { visible } from '../visible.ts';

/** `1 line`, `2,000 lines`. */
export const count = (number: number, of?: string): string =>
  `${number.toLocaleString('en-US')}${of === undefined ? '' : ` ${of}${number === 1 ? '' : 's'}`}`;

/** Otherwise nobody could tell a long command from one that hangs. */
const quietMilliseconds = 15_000;

export async function withProgress<T>(
  text: string,
  work: (update: (text: string) => void) => Promise<T>,
): Promise<T> {
  // Some terminals, such as that of `script` without one of its own, say that they have no columns. `ora` would then count
  // an infinite number of lines, and never end clearing them.
  const { isTTY, columns } = process.stderr;
  const isEnabled = isTTY && columns > 0;
  // `ora` itself does not look at NO_COLOR.
  const color = isEnabled && process.stderr.hasColors() ? 'cyan' : false;
  const spinner = ora({ text, color, isEnabled, discardStdin: false });
  if (isEnabled) spinner.start();
  let told = Date.now();
  try {
    return await work((newText) => {
      spinner.text = visible(newText);
      if (isEnabled || Date.now() - told < quietMilliseconds) return;
      told = Date.now();
      console.error(visible(newText));
    });
  } finally {
    spinner.stop();
  }
}
