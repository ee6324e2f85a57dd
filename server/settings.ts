// Every setting with its doc, format and default.
import { isIP } from 'node:net';
import { hasSeveralHosts, hasUnencodedPassword } from './database-url.ts';

export const secretNames = ['CARD_KEY', 'CURSOR_KEY'] as const;
export type SecretName = (typeof secretNames)[number];

/** These hold secrets, so they can also be given as files. */
export const namesWithFiles: readonly string[] = [...secretNames, 'DATABASE_URL'];
export const fileNameOf = (name: string): string => `${name}_FILE`;

interface Key {
  name: string;
  doc: string;
  format: string;
  default?: string;
  accepts: (value: string) => boolean;
  /** All that it accepts, if these are words. */
  words?: readonly string[];
}

const oneOf = (...words: string[]): Pick<Key, 'words' | 'accepts'> => ({
  words,
  accepts: (value) => words.includes(value),
});
const whole = (from: number, to: number) => (value: string) =>
  /^\d{1,9}$/.test(value) && Number(value) >= from && Number(value) <= to;
const isHost = (value: string) => isIP(value) > 0 || /^[A-Za-z0-9.-]{1,253}$/.test(value);
const url =
  (...protocols: string[]) =>
  (value: string) =>
    // Without both slashes, a parser takes the password for a part of the path.
    /^\w+:\/\//.test(value) && URL.canParse(value) && protocols.includes(new URL(value).protocol);

export const keys: Key[] = [
  {
    name: 'ENVIRONMENT',
    doc: 'which rules apply',
    format: '`sandbox` or `production`',
    default: 'sandbox',
    ...oneOf('sandbox', 'production'),
  },
  {
    name: 'HOST',
    doc: 'address to listen on',
    format: 'an IP address or host name',
    default: '127.0.0.1',
    accepts: isHost,
  },
  {
    name: 'PORT',
    doc: 'port to listen on; 0 takes any free one',
    format: '0 to 65535',
    default: '8080',
    accepts: whole(0, 65535),
  },
  {
    name: 'PUBLIC_URL',
    doc: 'address that clients reach the service at, for links in answers; by default `http://HOST:PORT`, required and https in production',
    format: 'an http or https URL without user, query and fragment',
    accepts: (value) => url('http:', 'https:')(value) && /^https?:\/\/[^@?#\s]+$/i.test(value),
  },
  {
    name: 'DATA_DIR',
    doc: 'folder for the embedded database and the sandbox secrets',
    format: 'a path',
    default: '.data',
    accepts: (value) => value.length > 0,
  },
  {
    name: 'DATABASE_URL',
    doc: 'PostgreSQL 15 or newer; without it the service starts one of its own in DATA_DIR',
    format: 'a postgres URL',
    // Several hosts and a password that is not encoded have messages of their own: see config.ts.
    accepts: (value) =>
      hasSeveralHosts(value) || hasUnencodedPassword(value) || url('postgres:', 'postgresql:')(value),
  },
  {
    name: 'DATABASE_POOLER',
    doc: 'what DATABASE_URL leads to; unset: PostgreSQL itself, or a pooler in session mode',
    format: '`transaction`: a pooler in transaction mode, such as PgBouncer',
    ...oneOf('transaction'),
  },
  {
    name: 'SHUTDOWN_DELAY',
    doc: 'seconds for which requests are still served after the signal to stop, while /readyz responds with 503',
    format: '0 to 300',
    default: '0',
    accepts: whole(0, 300),
  },
  {
    name: 'LOG_LEVEL',
    doc: 'how much to log',
    format: '`fatal`, `error`, `warn`, `info`, `debug`, `trace` or `silent`',
    default: 'info',
    ...oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
  },
  {
    name: 'METRICS_PORT',
    doc: 'port of the metrics for Prometheus, at /metrics; 0 takes any free one, without it there are none',
    format: '0 to 65535',
    accepts: whole(0, 65535),
  },
  {
    name: 'METRICS_HOST',
    doc: 'address to serve metrics on; they need no token, so others must not reach it',
    format: 'an IP address or host name',
    default: '127.0.0.1',
    accepts: isHost,
  },
  {
    name: 'TRACING',
    doc: 'whether traces of callers (traceparent) are accepted, logged and passed on to receivers of webhooks',
    format: '`on` or `off`',
    default: 'off',
    ...oneOf('on', 'off'),
  },
  {
    name: 'BODY_LIMIT',
    doc: 'largest request body, in bytes',
    format: '1024 to 10485760',
    default: '102400',
    accepts: whole(1024, 10_485_760),
  },
  {
    name: 'MAX_CONNECTIONS',
    doc: 'how many connections may be open at once; more are closed',
    format: '1 to 100000',
    default: '2000',
    accepts: whole(1, 100_000),
  },
  {
    name: 'MAX_REQUESTS_PER_CONNECTION',
    doc: 'how many requests a connection may send before it is closed',
    format: '1 to 1000000',
    default: '1000',
    accepts: whole(1, 1_000_000),
  },
  {
    name: 'WEBHOOK_WORKER',
    doc: 'whether this process delivers webhooks; `off` leaves that to `payments webhooks work`',
    format: '`on` or `off`',
    default: 'on',
    ...oneOf('on', 'off'),
  },
  {
    name: 'EVENT_RETENTION_DAYS',
    doc: 'how long events and their deliveries are kept, and can be replayed',
    format: '1 to 3650',
    default: '30',
    accepts: whole(1, 3650),
  },
  {
    name: 'AUDIT_RETENTION_DAYS',
    doc: 'how long the entries of `payments audit` are kept; without it for ever',
    format: '91 to 36500',
    accepts: whole(91, 36_500),
  },
  {
    name: 'CARDS_PER_MINUTE',
    doc: 'how many cards a key pair may store per minute in a merchant account; by default as the contract says in production, `off` in the sandbox',
    format: '1 to 1000000, or `off`',
    accepts: (value) => value === 'off' || whole(1, 1_000_000)(value),
  },
  {
    name: 'MISSING_KEYS',
    doc: 'whether to start although CARD_KEY fits none of the stored values, because the key is lost',
    format: '`refuse` or `accept`',
    default: 'refuse',
    ...oneOf('refuse', 'accept'),
  },
  {
    name: 'PROVIDERS',
    doc: 'JavaScript module with the providers of this installation: gift card balances, card verification',
    format: 'a path',
    accepts: (value) => value.length > 0,
  },
];

const secretDocs: Record<SecretName, string> = {
  CARD_KEY: 'encrypts card numbers, webhook secrets and passwords',
  CURSOR_KEY: 'signs cursors',
};

/** During a rotation these have several keys. */
const severalKeys: Record<SecretName, string> = {
  CARD_KEY: ', or several such keys separated by commas: the first seals, all open',
  CURSOR_KEY: ', or several such keys separated by commas: the first signs, cursors of all are accepted',
};

export const secretKeys = secretNames.map((name) => ({
  name,
  doc: `${secretDocs[name]}; in the sandbox made at the first start and kept in DATA_DIR`,
  format: `32 random bytes in base64 (\`openssl rand -base64 32\`)${severalKeys[name]}`,
}));
