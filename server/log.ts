// The logger. No code logs tokens, keys or card numbers on purpose; the redaction here is a second line of defence, for
// mistakes and for errors that quote request data.
import fs from 'node:fs';
import pino, { type DestinationStream, type Logger } from 'pino';
import { codeOf } from './faults.ts';
import { visibleJson } from './visible.ts';

const secret = [
  'authorization',
  'token',
  'private_key',
  'number',
  'security_code',
  'pin',
  'password',
  'secret',
].join('|');

// Applied to the finished line, so that they work at any depth, also in JSON inside a string.
const redactions: [pattern: RegExp, replacement: string][] = [
  [
    new RegExp(`(\\\\?")(${secret})\\1(\\s*:\\s*)(?:\\1(?:\\\\.|[^"\\\\])*?\\1|-?\\d[\\d.]*)`, 'gi'),
    '$1$2$1$3$1[redacted]$1',
  ],
  [/\beyJ[\w-]+\.[\w-]+\.[\w-]*/g, '[token]'],
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[^"]*?-----END [A-Z ]*PRIVATE KEY-----/g, '[private key]'],
  // Card numbers. Timestamps in milliseconds are shorter; request IDs may be long numbers and are left alone.
  [/(?<![\w-]|"requestId":")\d(?:[ _/-]{0,2}\d){13,18}(?![\w-])/g, '[number]'],
  [/(?<=:\/\/[^\s/:@"]*:)[^\s@"]+(?=@)/g, '[redacted]'],
];

/** Masks tokens, keys, passwords and card numbers. */
export const redact = (text: string): string =>
  redactions.reduce((masked, [pattern, replacement]) => masked.replace(pattern, replacement), text);

export const createLog = (level: string, destination?: DestinationStream): Logger =>
  pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err },
      hooks: {
        streamWrite: (line) => visibleJson(redact(line)),
      },
    },
    // Many lines in one write: a write per line costs the service a twentieth of its time. A process that is killed loses the
    // lines of the last tenth of a second; one that ends in any other way writes them.
    destination ?? endsWithoutReader(pino.destination({ dest: 1, minLength: 4096, periodicFlush: 100 })),
  );

type Destination = ReturnType<typeof pino.destination>;

/** How often the last lines are tried at the end of the process, with a tenth of a second in between. */
const lastTries = 20;

/**
 * At the end of the process SonicBoom repeats a write that fails for ever, also if nobody reads any more, so that the process
 * never ends. Here such lines are dropped: at once if the reader is gone, after two seconds if it does not read.
 */
function endsWithoutReader(stream: Destination): Destination {
  const flushSync = stream.flushSync.bind(stream);
  stream.flushSync = () => {
    const { writeSync } = fs;
    let tries = 0;
    const write = (fd: number, chunk: string | Buffer): number => {
      try {
        return typeof chunk === 'string' ? writeSync(fd, chunk, null, 'utf8') : writeSync(fd, chunk);
      } catch (error) {
        tries += 1;
        if (['EAGAIN', 'EBUSY'].includes(codeOf(error) ?? '') && tries < lastTries) throw error;
        return Buffer.byteLength(chunk);
      }
    };
    fs.writeSync = write as typeof writeSync;
    try {
      flushSync();
    } finally {
      fs.writeSync = writeSync;
    }
  };
  return stream;
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
  'The database has no such table or column. Is a migration missing? See docs/guides/backend-engineer.md, ' +
  '"A migration and a column"';
/** By PostgreSQL's code: undefined_column and undefined_table. */
export const hints: Record<string, string> = { '42703': noMigration, '42P01': noMigration };

// Messages of PostgreSQL's data exceptions (class 22) quote the value.
function quotesData(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return /^22[0-9A-Z]{3}$/.test(codeOf(error) ?? '') || quotesData(error.cause);
}
