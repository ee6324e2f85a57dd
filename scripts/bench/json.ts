// Milliseconds to read 100 kB of JSON, the default limit of a body: JSON.parse alone, and with the checks that it lacks.
import { parseStrictJson } from '../../client/json.ts';

const bytes = 100_000;
const rounds = 200;

const fill = (start: string, item: (index: number) => string, end: string): string => {
  const parts: string[] = [];
  for (let length = 0; length < bytes; length += parts.at(-1)?.length ?? 0)
    parts.push(`${item(parts.length)},`);
  return `${start}${parts.join('').slice(0, -1)}${end}`;
};

const deep = (start: string, end: string) => {
  const depth = Math.floor(bytes / (start.length + end.length));
  return `${start.repeat(depth)}1${end.repeat(depth)}`;
};

const texts = {
  'gift cards': fill('{"items":[', () => '{"number":"4123450000001234","pin":"12\\"34"}', ']}'),
  'many keys': fill('{', (index) => `"${index.toString(36)}":1`, '}'),
  'many escaped keys': fill('{', (index) => `"\\n${index.toString(36)}":1`, '}'),
  'many escapes': fill('[', () => '"\\ud83d\\ude00"', ']'),
  'nested objects': deep('{"a":', '}'),
  'nested arrays': deep('[', ']'),
};

export const benchJson = () =>
  Object.entries(texts).map(([text, json]) => {
    const parse = median(() => JSON.parse(json));
    const strict = median(() => parseStrictJson(json));
    return { text, parse: round(parse), strict: round(strict), reader: round(strict - parse) };
  });

function median(work: () => unknown): number {
  const times = Array.from({ length: rounds }, () => {
    const start = performance.now();
    work();
    return performance.now() - start;
  });
  return times.sort((a, b) => a - b)[rounds / 2] ?? 0;
}

const round = (milliseconds: number) => Number(milliseconds.toFixed(2));
