// The output of `--help`. Commander wraps what it writes itself, but not the texts that are added after it.
import { Help } from 'commander';
import { withGuides } from '../hints.ts';

/** Joins the lines of a paragraph and breaks them at the width. Indented lines are commands to copy, and stay as they are. */
const wrapped = (text: string, width: number): string =>
  text.replace(/^(?! ).+(?:\n(?! ).+)*/gm, (paragraph) =>
    new Help().boxWrap(paragraph.replaceAll('\n', ' '), width),
  );

export const writeHelp = (text: string): void => {
  const { stdout } = process;
  stdout.write(wrapped(withGuides(text), (stdout.isTTY && stdout.columns) || 80));
};
