// The logger. No code logs tokens, keys or card numbers on purpose; the redaction here is a second line of defence, for
// mistakes and for errors that quote request data.
import { writeSync } from 'node:fs';
import pino, { type DestinationStream, type Logger } from 'pino';
import { codeOf } from '../faults.ts';
import { guide } from '../guides.ts';
import { hide, type Hidden } from '../rules/card-numbers.ts';
import { visibleLines } from './visible.ts';

const names = 'authorization|token|private_key|number|security_code|pin|password|secret';

// Secrets are masked in the finished line, so they are found at any depth, also in JSON inside a string. The group `secret` is
// masked. Two patterns also match text that only begins like a secret, and skip it: so the time grows with the length of the line,
// whatever its text is.
const redactions: [pattern: RegExp, mask: string][] = [
  [
    new RegExp(
      String.raw`(?<shown>(?<quote>\\?")(?:${names})\k<quote>\s*:\s*)` +
        String.raw`(?<secret>\k<quote>(?:\\.|[^"\\])*?\k<quote>|-?\d[\d.]*)`,
      'gi',
    ),
    '[redacted]',
  ],
  [/(?<secret>\beyJ[\w-]+\.[\w-]+\.[\w-]*)|\beyJ[\w-]+/g, '[token]'],
  [
    /(?<secret>-----BEGIN [A-Z ]*PRIVATE KEY-----(?:(?!-----END)(?:[^"\\]|\\[^"]))*(?:-----END [A-Z ]*PRIVATE KEY-----)?)/g,
    '[private key]',
  ],
  // Of webhooks. JSON and URLs may escape characters of base64.
  [/(?<secret>whsec_(?:[\w+/=%-]|\\+\/)+)/g, '[secret]'],
  // Card numbers. Timestamps in milliseconds are shorter; request IDs may be long numbers and are left alone.
  [/(?<secret>(?<![\w-]|"requestId":")\d(?:[ _/-]{0,2}\d){13,18}(?![\w-]))/g, '[number]'],
  // Passwords in URLs.
  [/(?<shown>:\/\/[^\s/:@"]*:)(?:(?<secret>[^\s@"]+)(?=@)|[^\s@"]+)/g, '[redacted]'],
];

export function findSecrets(text: string): Hidden[] {
  const found: Hidden[] = [];
  for (const [pattern, mask] of redactions)
    for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
      const { shown = '', quote = '', secret } = match.groups ?? {};
      if (secret === undefined) continue;
      const from = match.index + shown.length;
      found.push({ from, to: from + secret.length, mask: quote + mask + quote });
    }
  return found;
}

export const redact = (text: string): string => hide(text, findSecrets(text));

export const createLog = (level: string, destination?: DestinationStream): Logger =>
  pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err },
      hooks: { streamWrite: (line) => visibleLines(redact(line)) },
    },
    destination ?? (stdout ??= createStdout()),
  );

/** One for all loggers of the process, so that lines stay in their order. */
let stdout: ReturnType<typeof createStdout> | undefined;

/** Writes the lines that wait, as at the end of the process: then something else may be written. */
export const flushLog = (): void => stdout?.flushAll();

const flushMilliseconds = 100;
const blockLength = 4096;
/** Blocks that wait for a reader or for space on the disk, some 16 MB. */
const mostWaiting = 4096;
/** At the end of the process the last lines are tried so often, with a pause in between: for two seconds. */
const lastTries = 400;
const lastMilliseconds = 5;

/**
 * Many lines in one write: a write per line costs the service a twentieth of its time. A process that is killed loses the lines
 * of the last tenth of a second; one that ends in any other way writes them. Lines wait for a reader that is slow and while the disk
 * is full, at the end of the process for two seconds. They are dropped if the reader is gone, or if too many wait.
 *
 * Not pino.destination: at the end of the process it loses lines of a slow reader and waits for ever for one that does not read; with
 * `sync`, such a reader stops the service.
 */
function createStdout() {
  // Not 1: when `process.stdout` is made, a pipe stops blocking, and a reader that does not read cannot stop the service.
  const { fd } = process.stdout;
  const waiting: Buffer[] = [];
  let lines = '';
  let dropped = 0;
  let why = '';
  const sayDropped = () => {
    if (dropped === 0 || waiting.length >= mostWaiting) return;
    const time = new Date().toISOString();
    lines += `{"level":40,"time":"${time}","msg":"${dropped} lines were dropped: ${why}"}\n`;
    dropped = 0;
  };
  const flush = () => {
    sayDropped();
    if (lines !== '' && (waiting.length === 0 || lines.length >= blockLength)) {
      waiting.push(Buffer.from(lines));
      lines = '';
    }
    try {
      for (let next = waiting[0]; next; next = waiting[0]) {
        const rest = next.subarray(writeSync(fd, next));
        if (rest.length > 0) waiting[0] = rest;
        else waiting.shift();
      }
    } catch (error) {
      const code = codeOf(error);
      why = code === 'EAGAIN' ? 'nobody read the log' : `the log could not be written (${code})`;
      // Nobody will read it any more. On a full disk the rest of a line goes on where it was cut.
      if (code === 'EPIPE' || code === 'EBADF') waiting.length = 0;
    }
  };
  setInterval(flush, flushMilliseconds).unref();
  const flushAll = () => {
    flush();
    for (let tries = 1; waiting.length + lines.length + dropped > 0 && tries < lastTries; tries += 1) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, lastMilliseconds);
      flush();
    }
  };
  process.on('exit', flushAll);
  const write = (line: string) => {
    if (waiting.length >= mostWaiting) {
      dropped += 1;
      return;
    }
    sayDropped();
    lines += line;
    if (lines.length >= blockLength) flush();
  };
  return { write, flush, flushAll };
}

// Logs only these fields: errors of the parser also contain the request body, errors of the database the row.
function err(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) };
  const { type, message, stack } = pino.stdSerializers.err(error);
  const clean = quotesData(error) ? (text: string) => text.replace(/"[^"]*"/g, '"[value]"') : String;
  const { code, statement } = error as { code?: unknown; statement?: unknown };
  return { type, message: clean(message), stack: clean(stack), code, statement, hint: hints[String(code)] };
}

const noMigration =
  'The database has no such table or column. Is a migration missing? See ' +
  `${guide('guides/backend-engineer.md')}, "A migration and a column"`;
const noSpace = `The disk of the database is full. Free space there: see ${guide('operating.md')}, "Health"`;
/** By PostgreSQL's code: undefined_column, undefined_table and disk_full. */
export const hints: Record<string, string> = { '42703': noMigration, '42P01': noMigration, '53100': noSpace };

// Messages of PostgreSQL's data exceptions (class 22) quote the value.
function quotesData(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return /^22[0-9A-Z]{3}$/.test(codeOf(error) ?? '') || quotesData(error.cause);
}
