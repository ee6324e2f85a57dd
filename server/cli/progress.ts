// Progress of long work, on a terminal only. Numbers that people can read.
import ora from 'ora';
import { visible, visibleLines } from '../visible.ts';

export interface Progress {
  say: (text: string) => void;
  done: (text: string) => void;
  failed: () => void;
}

/** `1 line`, `2,000 lines`. */
export const count = (number: number, of?: string): string =>
  `${number.toLocaleString('en-US')}${of === undefined ? '' : ` ${of}${number === 1 ? '' : 's'}`}`;

export function startProgress(text: string): Progress {
  const spinner = ora({ text, isEnabled: process.stderr.isTTY, discardStdin: false });
  if (process.stderr.isTTY) spinner.start();
  return {
    say: (said) => {
      spinner.text = visible(said);
    },
    done: (said) => {
      spinner.stop();
      console.log(visibleLines(said));
    },
    failed: () => {
      spinner.stop();
    },
  };
}
