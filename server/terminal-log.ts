// Log lines for people: what a terminal shows instead of JSON.
import { styleText } from 'node:util';
import type { DestinationStream } from 'pino';
import { visible, visibleLines } from './visible.ts';

interface Line {
  level: number;
  time: string;
  msg?: string;
  requestId?: string;
  method?: string;
  path?: string;
  status?: number | string;
  code?: string;
  reason?: string;
  ms?: number;
  err?: { message?: string; stack?: string; statement?: string; hint?: string };
}

type Style = Parameters<typeof styleText>[0];

/** Returns a line as it is if it is not a line of the log. Colours are left out with NO_COLOR, as Node does. */
export function terminalLine(json: string, hasColours: boolean): string {
  const paint = (style: Style, text: string) => (hasColours ? styleText(style, text) : text);
  let line: Line;
  try {
    // Parsing undoes the escapes of the log, so control characters are made visible again: here, and in the stack.
    line = JSON.parse(json, (key, value: unknown) =>
      typeof value !== 'string' ? value : key === 'stack' ? visibleLines(value) : visible(value),
    ) as Line;
  } catch {
    return json;
  }
  const { level, time, msg, requestId, method, path, status, code, reason, ms, err, ...facts } = line;
  const clock = paint('dim', time.slice(11, 19));
  if (ms !== undefined && method !== undefined) {
    const isFine = typeof status === 'number' && status < 400;
    const style = isFine ? 'green' : Number(status) < 500 ? 'yellow' : 'red';
    const outcome = [status, code].filter((word) => word !== undefined).join(' ');
    const why = reason === undefined ? '' : `: ${reason}`;
    const rest = paint('dim', `  ${Math.round(ms)} ms  req ${requestId ?? '?'}`);
    return `${clock} ${method} ${path ?? ''} → ${paint(style, outcome)}${why}${rest}\n`;
  }
  const name = level >= 50 ? paint('red', 'error ') : level >= 40 ? paint('yellow', 'warning ') : '';
  const known = { requestId, method, path, status, code, reason, ms, ...facts };
  const shown = Object.entries(known)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
  const told = [msg ?? '', paint('dim', shown.join(' '))].filter((text) => text !== '').join('  ');
  return `${[`${clock} ${name}${told}`, ...(err ? linesOf(err) : [])].join('\n')}\n`;
}

/** Without the frames of packages, if any other is left. */
function linesOf({ message = '', stack = message, statement, hint }: NonNullable<Line['err']>): string[] {
  const own = stack.split('\n').filter((line) => !/^ +at .*(node_modules|node:internal)/.test(line));
  const shown = own.some((line) => /^ +at /.test(line)) ? own.join('\n') : stack;
  return [
    shown,
    ...(statement === undefined ? [] : [`Statement: ${statement}`]),
    ...(hint === undefined ? [] : [hint]),
  ];
}

export const toTerminal = (out: NodeJS.WriteStream): DestinationStream => ({
  write: (json) => void out.write(terminalLine(json, out.hasColors())),
});
