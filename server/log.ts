// One logger. Handlers and steps never hand it a token, a key or a card number; the redaction below is for the day that
// somebody does.
import pino, { type Logger } from 'pino';

const secret = [
  'authorization',
  'token',
  'private_key',
  'number',
  'security_code',
  'pin',
  'password',
  'secret',
];

export const createLog = (level: string): Logger =>
  pino({
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: { paths: secret.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), censor: '[redacted]' },
  });
