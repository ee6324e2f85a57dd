// A file of lines, in batches that fit in memory whatever the file is.

export type Line = { line: number } & ({ text: string } | { fault: string });

export interface Batch {
  lines: Line[];
  /** Bytes of the input up to here. */
  read: number;
}

const most = { lines: 1_000, bytes: 4_000_000, lineBytes: 16_000_000 };

const tooLong = `is longer than ${most.lineBytes / 1_000_000} MB`;

/**
 * Only LF and CRLF end a line. node:readline would also end one at U+2028, which JSON may have inside of a text. Empty lines
 * are counted and left out. A line that is too long is told of at once, for it may have no end, and passed over.
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
  let passingOver = false;
  const decode = (end: Buffer): { text: string } | { fault: string } => {
    try {
      return { text: utf8.decode(begun.length === 0 ? end : Buffer.concat([...begun, end])) };
    } catch {
      return { fault: 'is not valid UTF-8' };
    }
  };
  const forget = () => {
    begun = [];
    begunBytes = 0;
  };
  const take = (end: Buffer) => {
    read += begunBytes + end.length + 1;
    if (!passingOver) {
      line += 1;
      bytes += begunBytes + end.length;
      const content = decode(end);
      if (!('text' in content) || content.text.trim() !== '') batch.push({ line, ...content });
    }
    passingOver = false;
    forget();
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
    if (passingOver || begunBytes > most.lineBytes) {
      read += begunBytes;
      forget();
      if (passingOver) continue;
      passingOver = true;
      line += 1;
      yield { lines: [...batch, { line, fault: tooLong }], read };
      batch = [];
      bytes = 0;
    }
  }
  if (begunBytes > 0) take(Buffer.alloc(0));
  if (batch.length > 0) yield { lines: batch, read };
}
