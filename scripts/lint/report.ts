// Shows faults of the contract to people: place, the line itself, what to do.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { styleText } from 'node:util';
import type { Problem } from './problem.ts';

export const asText = (problems: Problem[], project: string, colour: boolean): string =>
  [...messagesOf(problems, project, colour), count(problems.length)].join('\n\n');

export function messagesOf(problems: Problem[], project: string, colour: boolean): string[] {
  const paint = (style: Parameters<typeof styleText>[0], text: string) =>
    colour ? styleText(style, text, { validateStream: false }) : text;
  return problems.map((problem) => {
    const { rule, file, line, column, message } = problem;
    const place = `${paint('cyan', `${file}:${line}:${column}`)} ${paint('dim', rule)}`;
    return `${place}\n${frame(problem, project)}  ${message.replaceAll('\n', '\n  ')}`;
  });
}

export const count = (problems: number) => `${problems} ${problems === 1 ? 'problem' : 'problems'}`;

function frame({ file, line, column }: Problem, project: string): string {
  const text = readText(join(project, file)).split('\n')[line - 1];
  if (text === undefined) return '';
  // As wide as what stands before the fault, tabs included.
  const before = text.slice(0, column - 1).replaceAll(/[^\t]/g, ' ');
  const number = `  ${line} | `;
  return `${number}${text}\n${' '.repeat(number.length - 2)}| ${before}^\n`;
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
