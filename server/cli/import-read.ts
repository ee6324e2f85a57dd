// The first stage of an import: reads a file line by line, in batches of limited size, so that files of any size fit in memory.
import { OperatorFault } from '../faults.ts';
import { shellWord } from '../hints.ts';

export type Line = { line: number } & ({ text: string } | { fault: string });

export interface Batch {
  lines: Line[];
  /** Bytes of the input up to here. */
  read: number;
  /** Whether the input has ended. */
  isLast: boolean;
}

const limits = { lines: 1_000, bytes: 4_000_000, lineBytes: 16_000_000 };

const tooLong = `is longer than ${limits.lineBytes / 1_000_000} MB`;

/**
 * Only LF and CRLF end a line: node:readline also splits at U+2028, which JSON strings may contain. Empty lines are counted
 * and left out. A line that is too long is reported at once, because it may never end, and then skipped.
 */
export async function* readBatches(input: AsyncIterable<unknown>): AsyncGenerator<Batch> {
  // TextDecoder also removes a byte order mark.
  const utf8 = new TextDecoder('utf-8', { fatal: true });
  let batch: Line[] = [];
  let bytes = 0;
  let line = 0;
  let read = 0;
  let partial: Buffer[] = [];
  let partialBytes = 0;
  let skipping = false;
  const decode = (end: Buffer): { text: string } | { fault: string } => {
    try {
      return { text: utf8.decode(partial.length === 0 ? end : Buffer.concat([...partial, end])) };
    } catch {
      return { fault: 'is not valid UTF-8' };
    }
  };
  const resetPartial = () => {
    partial = [];
    partialBytes = 0;
  };
  const finishLine = (end: Buffer) => {
    read += partialBytes + end.length + 1;
    if (!skipping) {
      line += 1;
      bytes += partialBytes + end.length;
      const content = decode(end);
      if (!('text' in content) || content.text.trim() !== '') batch.push({ line, ...content });
    }
    skipping = false;
    resetPartial();
  };
  for await (const given of input) {
    const chunk = given as Buffer;
    let from = 0;
    for (let to = chunk.indexOf(10); to !== -1; to = chunk.indexOf(10, from)) {
      finishLine(chunk.subarray(from, to));
      from = to + 1;
      if (batch.length < limits.lines && bytes < limits.bytes) continue;
      yield { lines: batch, read, isLast: false };
      batch = [];
      bytes = 0;
    }
    partial.push(chunk.subarray(from));
    partialBytes += chunk.length - from;
    if (skipping || partialBytes > limits.lineBytes) {
      read += partialBytes;
      resetPartial();
      if (skipping) continue;
      skipping = true;
      line += 1;
      yield { lines: [...batch, { line, fault: tooLong }], read, isLast: false };
      batch = [];
      bytes = 0;
    }
  }
  if (partialBytes > 0) finishLine(Buffer.alloc(0));
  if (batch.length > 0) yield { lines: batch, read, isLast: true };
}

/** Passes the input on, unless it has another form: every line would be reported. */
export async function* refuseOtherForms(
  input: AsyncIterable<unknown>,
  file: string,
  { skipBad }: { skipBad: boolean },
): AsyncGenerator {
  let isFirst = true;
  for await (const chunk of input) {
    const fault = isFirst ? formFault(chunk as Buffer, file, skipBad) : undefined;
    if (fault !== undefined) throw new OperatorFault(fault);
    isFirst = false;
    yield chunk;
  }
}

function formFault(start: Buffer, file: string, skipBad: boolean): string | undefined {
  const [name, word] = file === '-' ? ['Standard input', 'FILE'] : [file, shellWord(file)];
  const again = 'payments import transactions -';
  if (start[0] === 0x1f && start[1] === 0x8b) return `${name} is compressed. Use: zcat ${word} | ${again}`;
  const text = start
    .toString()
    .replace(/^\uFEFF/, '')
    .trimStart();
  if (text.startsWith('['))
    return `${name} is a JSON array; one object per line is needed: jq -c '.[]' ${word} | ${again}`;
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const isText = !/[\0\uFFFD]/.test(text);
  if (isText && !skipBad && lines.length > 1 && !lines.some((line) => line.trimStart().startsWith('{')))
    return `${name} has no JSON objects in its first lines; one per line is needed, and other formats such as CSV must be converted. Nothing was imported.`;
  return undefined;
}
