// What a setting is, and the settings that every API on the kit has.
import { isIP } from 'node:net';
import { programName } from '../../generated/operations.ts';
import { databaseUrlFault } from './database/url.ts';
import type { Keys } from './secrets/vault.ts';

export interface Setting {
  doc: string;
  /** What it accepts, as in "PORT must be 0 to 65535". */
  format: string;
  parse: (text: string) => unknown;
  /** What is wrong with a text that is not accepted, if it is more than the format. */
  explain?: (text: string) => string | undefined;
  default?: string;
  /** What holds without it, if there is no default. */
  unset?: string;
  /** In production. */
  isRequired?: true;
  /** Not shown. NAME_FILE may name a file with the value, as Docker, Kubernetes and systemd hand secrets over. */
  isSecret?: true;
  guide?: string;
}

const either = new Intl.ListFormat('en-GB', { type: 'disjunction' });

const oneOf = <Word extends string>(...words: Word[]) => ({
  format: either.format(words.map((word) => `\`${word}\``)),
  parse: (text: string) => words.find((word) => word === text),
});

const onOrOff = {
  format: '`on` or `off`',
  parse: (text: string) => (text === 'on' ? true : text === 'off' ? false : undefined),
};

export const whole = (from: number, to: number) => ({
  format: `${from} to ${to}`,
  parse: (text: string) =>
    /^\d{1,9}$/.test(text) && Number(text) >= from && Number(text) <= to ? Number(text) : undefined,
});

const accepting = (format: string, accepts: (text: string) => boolean) => ({
  format,
  parse: (text: string) => (accepts(text) ? text : undefined),
});

const host = accepting(
  'an IP address or host name',
  (text) => isIP(text) > 0 || /^[A-Za-z0-9.-]{1,253}$/.test(text),
);

export const path = accepting('a path', (text) => text.length > 0);

const publicUrl = accepting(
  'an http or https URL without user, query and fragment',
  (text) => /^https?:\/\/[^@?#\s]+$/i.test(text) && URL.canParse(text),
);

/** A value has several keys during a rotation. */
const keys = (roles: string) => ({
  format: `32 random bytes in base64 (\`openssl rand -base64 32\`), or several such keys separated by commas: ${roles}`,
  parse: (text: string): Keys | undefined => {
    const [first, ...older] = text.split(',').map((key) => decodeKey(key.trim()));
    return first && older.every((key) => key !== undefined) ? [first, ...older] : undefined;
  },
});

/** Undefined unless it is 32 bytes that are not all the same. */
function decodeKey(text: string): Buffer | undefined {
  const key = Buffer.from(text, 'base64');
  return /^[A-Za-z0-9+/]{43}=$/.test(text) && new Set(key).size > 1 ? key : undefined;
}

const inDataDir = 'sandbox: generated at the first start, kept in `DATA_DIR`; required in production';

export const kitSettings = {
  ENVIRONMENT: { doc: 'which rules apply', ...oneOf('sandbox', 'production'), default: 'sandbox' },
  HOST: { doc: 'address to listen on', ...host, default: '127.0.0.1' },
  PORT: { doc: 'port to listen on; 0 takes any free one', ...whole(0, 65_535), default: '8080' },
  PUBLIC_URL: {
    doc: 'address at which clients reach the service, for links in answers; https in production',
    ...publicUrl,
    unset: '`http://HOST:PORT`; required in production',
    isRequired: true,
  },
  DATA_DIR: { doc: 'folder of the embedded database and the sandbox secrets', ...path, default: '.data' },
  DATABASE_URL: {
    doc: 'PostgreSQL 15 or newer',
    ...accepting('a postgres URL', (text) => databaseUrlFault(text) === undefined),
    explain: databaseUrlFault,
    unset: 'sandbox: an embedded PostgreSQL in `DATA_DIR`; required in production',
    isRequired: true,
    isSecret: true,
  },
  DATABASE_POOLER: {
    doc: 'set it if DATABASE_URL leads to a pooler, such as PgBouncer, in transaction or session mode',
    ...oneOf('transaction'),
    unset: 'PostgreSQL itself',
    guide: 'operating.md#poolers',
  },
  SHUTDOWN_DELAY: {
    doc: 'seconds for which requests are served after the signal to stop, while /readyz responds with 503',
    ...whole(0, 300),
    default: '0',
  },
  LOG_LEVEL: {
    doc: 'how much to log',
    ...oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
    default: 'info',
  },
  METRICS_PORT: {
    doc: 'port of the metrics for Prometheus, at /metrics; 0 takes any free one',
    ...whole(0, 65_535),
    unset: 'no metrics',
    guide: 'operating.md#metrics',
  },
  METRICS_HOST: {
    doc: 'address to serve metrics on; they need no token, so others must not reach it',
    ...host,
    default: '127.0.0.1',
  },
  TRACING: {
    doc: 'whether traces of callers (traceparent) are accepted, logged and passed on to receivers of webhooks',
    ...onOrOff,
    default: 'off',
  },
  BODY_LIMIT: { doc: 'largest request body, in bytes', ...whole(1024, 10_485_760), default: '102400' },
  WEBHOOK_WORKER: {
    doc: `whether this process delivers webhooks; \`off\` leaves that to \`${programName} webhooks work\``,
    ...onOrOff,
    default: 'on',
  },
  EVENT_RETENTION_DAYS: {
    doc: 'how long events and their deliveries are kept, and can be replayed',
    ...whole(1, 3650),
    default: '30',
    guide: 'guides/personal-data.md',
  },
  AUDIT_RETENTION_DAYS: {
    doc: `how long the entries of \`${programName} audit\` are kept`,
    ...whole(91, 36_500),
    unset: 'for ever',
    guide: 'guides/personal-data.md',
  },
  CARD_KEY: {
    doc: 'encrypts card numbers, webhook secrets and passwords',
    ...keys('the first seals, all open'),
    unset: inDataDir,
    isRequired: true,
    isSecret: true,
    guide: 'guides/keys.md',
  },
  CURSOR_KEY: {
    doc: 'signs cursors',
    ...keys('the first signs, cursors of all are accepted'),
    unset: inDataDir,
    isRequired: true,
    isSecret: true,
    guide: 'guides/keys.md',
  },
} as const satisfies Record<string, Setting>;
