// One logger. Handlers and steps never hand it a token, a key or a card number; what is taken out below is for the day that
// somebody does, or that an error quotes what was sent.
import pino, { type DestinationStream, type Logger } from 'pino';

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

// Over the finished line, so at any depth, and in JSON that stands quoted inside a text too.
const rules: [pattern: RegExp, instead: string][] = [
  [
    new RegExp(`(\\\\?")(${secret})\\1(\\s*:\\s*)(?:\\1(?:\\\\.|[^"\\\\])*?\\1|-?\\d[\\d.]*)`, 'gi'),
    '$1$2$1$3$1[redacted]$1',
  ],
  [/\beyJ[\w-]+\.[\w-]+\.[\w-]*/g, '[token]'],
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[^"]*?-----END [A-Z ]*PRIVATE KEY-----/g, '[private key]'],
  // Card numbers of any kind. Milliseconds since 1970 are shorter, and some callers number their requests.
  [/(?<![\w-]|"requestId":")\d(?:[ -]?\d){13,18}(?![\w-])/g, '[number]'],
  [/(?<=:\/\/[^\s/:@"]*:)[^\s@"]+(?=@)/g, '[redacted]'],
];

export const createLog = (level: string, destination?: DestinationStream): Logger =>
  pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err },
      hooks: {
        streamWrite: (line) =>
          rules.reduce((text, [pattern, instead]) => text.replace(pattern, instead), line),
      },
    },
    destination ?? pino.destination(1),
  );

// Of an error only this: those of a parser carry the body, those of the database the row.
function err(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) };
  const { type, message, stack } = pino.stdSerializers.err(error);
  const clean = quotesData(error) ? (text: string) => text.replace(/"[^"]*"/g, '"[value]"') : String;
  return { type, message: clean(message), stack: clean(stack), code: (error as { code?: unknown }).code };
}

// PostgreSQL's data exceptions, class 22, say which value they could not read.
function quotesData(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as { code?: unknown };
  return (typeof code === 'string' && /^22[0-9A-Z]{3}$/.test(code)) || quotesData(error.cause);
}
