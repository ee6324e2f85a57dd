// Shows the progress of long commands, on a terminal only.
import ora from 'ora';
import { visible, visibleLines } from '../visible.ts';

export interface Progress {
  update: (text: string) => void;
  done: (text: string) => void;
  failed: () => void;
}

/** `1 line`, `2,000 lines`. */
export const count = (number: number, of?: string): string =>
  `${number.toLocaleString('en-US')}${of === undefined ? '' : ` ${of}${number === 1 ? '' : 's'}`}`;

export function startProgress(text: string): Progress {
  // `ora` itself does not look at NO_COLOR.
  const color = process.stderr.isTTY && process.stderr.hasColors() ? 'cyan' : false;
  const spinner = ora({ text, color, isEnabled: process.stderr.isTTY, discardStdin: false });
  if (process.stderr.isTTY) spinner.start();
  return {
    update: (newText) => {
      spinner.text = visible(newText);
    },
    done: (result) => {
      spinner.stop();
      console.log(visibleLines(result));
    },
    failed: () => {
      spinner.stop();
    },
  };
}
