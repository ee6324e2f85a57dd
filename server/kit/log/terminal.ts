// Log lines for people, by pino-pretty: what a terminal shows instead of JSON.
import type { DestinationStream } from 'pino';
import { prettyFactory } from 'pino-pretty';
import { visible, visibleLines } from './visible.ts';

const inMessage = ['method', 'path', 'status', 'code', 'reason'];

const isText = (value: unknown) => typeof value === 'string' || typeof value === 'number';

export function createTerminalLine(colorize: boolean): (json: string) => string {
  const pretty = prettyFactory({
    colorize,
    singleLine: true,
    translateTime: 'UTC:HH:MM:ss',
    ignore: inMessage.join(','),
    messageFormat: (line) =>
      ['msg', ...inMessage]
        .map((name) => line[name])
        .filter(isText)
        .join(' '),
  });
  return (json) => {
    try {
      return pretty(JSON.parse(json, escaped));
    } catch {
      return json;
    }
  };
}

/** Parsing undoes the escapes of the log. Control characters of others must not colour, hide or forge lines. */
const escaped = (key: string, value: unknown) =>
  typeof value !== 'string' ? value : key === 'stack' ? visibleLines(value) : visible(value);

export function toTerminal(out: NodeJS.WriteStream): DestinationStream {
  const line = createTerminalLine(out.hasColors());
  return { write: (json) => void out.write(line(json)) };
}
