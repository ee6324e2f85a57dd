// Shows the progress of long commands: at any time on a terminal, otherwise a line on standard error now and then.
import ora from 'ora';
import { OperatorFault } from '../faults.ts';
import { visible } from '../log/visible.ts';

/** `1 line`, `2,000 lines`. */
export const count = (number: number, of?: string): string =>
  `${number.toLocaleString('en-US')}${of === undefined ? '' : ` ${of}${number === 1 ? '' : 's'}`}`;

/** Otherwise nobody could tell a long command from one that hangs. */
const quietMilliseconds = 15_000;

/**
 * With `interrupted`, Ctrl-C ends the work in good order: it watches the signal, which fails with this message, and rolls back. A
 * second Ctrl-C ends the process at once.
 */
export async function withProgress<T>(
  text: string,
  work: (update: (text: string) => void, interruption: AbortSignal) => Promise<T>,
  interrupted?: string,
): Promise<T> {
  // Some terminals, such as that of `script` without one of its own, say that they have no columns. `ora` would then count
  // an infinite number of lines, and never end clearing them.
  const { isTTY, columns } = process.stderr;
  const isEnabled = isTTY && columns > 0;
  // `ora` itself does not look at NO_COLOR.
  const color = isEnabled && process.stderr.hasColors() ? 'cyan' : false;
  const spinner = ora({ text, color, isEnabled, discardStdin: false });
  const interruption = new AbortController();
  const interrupt = () => {
    interruption.abort(new OperatorFault(interrupted));
  };
  if (interrupted !== undefined) process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  if (isEnabled) spinner.start();
  let told = Date.now();
  const update = (newText: string) => {
    spinner.text = visible(newText);
    if (isEnabled || Date.now() - told < quietMilliseconds) return;
    told = Date.now();
    console.error(visible(newText));
  };
  try {
    return await work(update, interruption.signal);
  } finally {
    spinner.stop();
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
  }
}
