// The first stage of an import: reads a file line by line, in batches of limited size, so that files of any size fit in memory.
import { OperatorFault } from '../faults.ts';

export interface Line {
  number: number;
  bytes: Buffer;
}

const limits = { lines: 1_000, bytes: 4_000_000, lineBytes: 16_000_000 };

/** Only LF ends a line: node:readline also splits at U+2028, which JSON strings may contain. Empty lines are counted and left out. */
export async function* readLines(input: AsyncIterable<unknown>): AsyncGenerator<Line[]> {
  let lines: Line[] = [];
  let bytes = 0;
  let number = 1;
  let partial: Buffer[] = [];
  let partialBytes = 0;
  const extend = (part: Buffer) => {
    partial.push(part);
    partialBytes += part.length;
    // It may never end.
    if (partialBytes > limits.lineBytes)
      throw new OperatorFault(
        `Line ${number} is longer than ${limits.lineBytes / 1_000_000} MB. Nothing was imported.`,
      );
  };
  const finishLine = () => {
    const line = { number, bytes: Buffer.concat(partial) };
    if (!line.bytes.every(isSpace)) lines.push(line);
    bytes += partialBytes;
    number += 1;
    partial = [];
    partialBytes = 0;
  };
  for await (const read of input) {
    const chunk = read as Buffer;
    let from = 0;
    for (let to = chunk.indexOf(10); to !== -1; to = chunk.indexOf(10, from)) {
      extend(chunk.subarray(from, to));
      finishLine();
      from = to + 1;
      if (lines.length < limits.lines && bytes < limits.bytes) continue;
      yield lines;
      lines = [];
      bytes = 0;
    }
    extend(chunk.subarray(from));
  }
  finishLine();
  if (lines.length > 0) yield lines;
}

const isSpace = (byte: number): boolean => byte === 32 || (byte >= 9 && byte <= 13);
