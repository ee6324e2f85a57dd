// The bad lines of an import: the first ones for the report, and all of them for the file of --bad.
import { closeSync, openSync, writeSync } from 'node:fs';
import { maskCardNumbers, mentionsCardNumber } from '../resources/payment-methods/rules.ts';
import { visible } from '../visible.ts';
import { OperatorFault } from '../operator-fault.ts';
import type { Line } from './import-lines.ts';
import { count } from './progress.ts';

const mostShown = 20;

interface BadLine {
  line: number;
  reason: string;
}

export interface BadLines {
  total: () => number;
  isReportFull: () => boolean;
  note: (line: Line, reason: string) => void;
  /** The first ones, in the order of the file. */
  shown: () => BadLine[];
  /** `stoppedAfter` is the last line that was read, if there may be more. */
  report: (stoppedAfter?: number) => string;
  close: () => void;
}

/** Keeps only the first ones and the total in memory, because there may be a million. */
export function collectBadLines(file: string | undefined): BadLines {
  const handle = file === undefined ? undefined : create(file);
  const first: BadLine[] = [];
  const firstShown = () => first.sort((a, b) => a.line - b.line).slice(0, mostShown);
  let total = 0;
  return {
    total: () => total,
    isReportFull: () => total >= mostShown,
    note({ line, ...read }, reason) {
      total += 1;
      // Lines that the database refuses are noted after later ones that are not valid.
      if (first.length < 2 * mostShown) first.push({ line, reason });
      if (handle === undefined) return;
      const text = 'text' in read ? maskLine(read.text) : null;
      writeSync(handle, `${JSON.stringify({ line, reason, text })}\n`);
    },
    shown: firstShown,
    report(stoppedAfter) {
      const shown = firstShown().map(({ line, reason }) => `line ${line}: ${visible(reason)}`);
      if (total > mostShown) shown.push(`… and ${count(total - mostShown)} more`);
      if (stoppedAfter !== undefined)
        shown.push(
          `Stopped after line ${count(stoppedAfter)}; there may be more bad lines. --dry-run reads all of them.`,
        );
      return shown.join('\n');
    },
    close() {
      if (handle !== undefined) closeSync(handle);
    },
  };
}

const secret = /("(?:security_code|pin)"\s*:\s*)(?:"(?:\\.|[^"\\])*"|[^\s,}]+)/gi;

/** A number may also be written with escapes of JSON. */
function maskLine(text: string): string {
  const masked = maskCardNumbers(text.replace(secret, '$1"[redacted]"'));
  const plain = masked
    .replace(/\\u([0-9a-f]{4})/gi, (_, code: string) => String.fromCharCode(parseInt(code, 16)))
    .replaceAll('\\/', '/')
    .replace(/\\[bfnrt]/g, ' ');
  return mentionsCardNumber(plain) ? maskCardNumbers(plain) : masked;
}

/** Never overwrites: a mistake in the arguments must not cost the file that is imported. */
function create(file: string): number {
  try {
    return openSync(file, 'wx', 0o600);
  } catch (error) {
    const isThere = (error as NodeJS.ErrnoException).code === 'EEXIST';
    throw new OperatorFault(
      `${file} ${isThere ? 'exists already' : 'cannot be created'}. Name another file; nothing was imported.`,
    );
  }
}
