// A file of lines, in batches that fit in memory whatever the file is.
import { Refused } from './support.ts';

export interface Line {
  line: number;
  /** Undefined when it is not valid UTF-8. */
  text: string | undefined;
}

export interface Batch {
  lines: Line[];
  /** Bytes of the input up to here. */
  read: number;
}

const most = { lines: 1_000, bytes: 4_000_000, lineBytes: 16_000_000 };

/**
 * Only LF and CRLF end a line. node:readline would also end one at U+2028, which JSON may have inside of a text. Empty lines
 * are counted and left out.
 */
export async function* readBatches(input: AsyncIterable<unknown>): AsyncGenerator<Batch> {
  // Takes a byte order mark away.
  const utf8 = new TextDecoder('utf-8', { fatal: true });
  let batch: Line[] = [];
  let bytes = 0;
  let line = 0;
  let read = 0;
  let begun: Buffer[] = [];
  let begunBytes = 0;
  const decode = (end: Buffer): string | undefined => {
    try {
      return utf8.decode(begun.length === 0 ? end : Buffer.concat([...begun, end]));
    } catch {
      return undefined;
    }
  };
  const take = (end: Buffer) => {
    line += 1;
    read += begunBytes + end.length + 1;
    bytes += begunBytes + end.length;
    const text = decode(end);
    if (text?.trim() !== '') batch.push({ line, text });
    begun = [];
    begunBytes = 0;
  };
  for await (const given of input) {
    const chunk = given as Buffer;
    let from = 0;
    for (let to = chunk.indexOf(10); to !== -1; to = chunk.indexOf(10, from)) {
      take(chunk.subarray(from, to));
      from = to + 1;
      if (batch.length < most.lines && bytes < most.bytes) continue;
      yield { lines: batch, read };
      batch = [];
      bytes = 0;
    }
    begun.push(chunk.subarray(from));
    begunBytes += chunk.length - from;
    if (begunBytes > most.lineBytes)
      throw new Refused(`line ${line + 1} is longer than ${most.lineBytes / 1_000_000} MB.`);
  }
  if (begunBytes > 0) take(Buffer.alloc(0));
  if (batch.length > 0) yield { lines: batch, read };
}
