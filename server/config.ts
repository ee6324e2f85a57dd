// The only module that reads process.env. settings.ts has the table of all settings. All faults are reported at once.
import { isIP } from 'node:net';
import { userInfo } from 'node:os';
import { resolve } from 'node:path';
import { hasSeveralHosts, hasTls, hasUnencodedPassword, isOnThisMachine } from './database-url.ts';
import { nearWord } from './rules/edit-distance.ts';
import { findMisspelt } from './misspelt-settings.ts';
import { OperatorFault } from './operator-fault.ts';
import { decodeKey, strongKey } from './random-key.ts';
import { asGiven, readGiven, readSettings } from './setting-files.ts';
import { fileNameOf, keys, namesWithFiles, secretKeys, secretNames, type SecretName } from './settings.ts';

export interface Config {
  environment: 'sandbox' | 'production';
  host: string;
  port: number;
  publicUrl: string;
  dataDir: string;
  databaseUrl: string | undefined;
  /** The kind of pooler that DATABASE_URL leads to. */
  databasePooler?: 'transaction' | undefined;
  /** Seconds between the signal to stop and the end of serving, in which `/readyz` says no. */
  shutdownDelay?: number;
  /** Where metrics are served; without it they are off. */
  metrics?: { host: string; port: number } | undefined;
  tracing?: boolean;
  logLevel: string;
  bodyLimit: number;
  maxConnections?: number;
  maxRequestsPerConnection?: number;
  /** Whether this process delivers webhooks. */
  webhookWorker: boolean;
  /** How long events with their deliveries, and entries of the audit trail are kept. Without a number: for ever. */
  eventRetentionDays: number;
  auditRetentionDays: number | undefined;
  /** Path of the module with the providers. */
  providersModule: string | undefined;
  secrets: Record<SecretName, Buffer | undefined>;
  /** The keys after the first in CARD_KEY. They decrypt values from before a rotation. */
  olderCardKeys?: readonly Buffer[];
  /** The keys after the first in CURSOR_KEY. Cursors that they signed are still accepted. */
  olderCursorKeys?: readonly Buffer[];
  /** What to do if the keys fit no stored value. */
  missingKeys?: 'refuse' | 'accept';
  /** How many cards a key pair may store per minute in a merchant account. Unset: as the contract says, in production. */
  cardsPerMinute?: number | 'off';
  /** What works but is probably a mistake, for the log at start. */
  warnings?: readonly string[];
}

/** Who runs a command, for the audit trail; with sudo also who called it. */
export function readOperator(env: Readonly<Record<string, string | undefined>> = process.env): string {
  const name = userName();
  return env.SUDO_USER && env.SUDO_USER !== name ? `${env.SUDO_USER} as ${name}` : name;
}

export interface NpmRun {
  /** Whether npm took this option, such as `--scopes`, for one of its own. */
  hasKept: (option: string) => boolean;
}

/** Undefined unless `npm run payments` started this process. npm keeps all options that do not come after `--`. */
export function readNpmRun(
  env: Readonly<Record<string, string | undefined>> = process.env,
): NpmRun | undefined {
  if (env.npm_lifecycle_event !== 'payments') return undefined;
  const settingOf = (option: string) => `npm_config_${option.replace(/^--/, '').replaceAll('-', '_')}`;
  return { hasKept: (option) => !['', 'false'].includes(env[settingOf(option)] ?? '') };
}

/** How the operator called this command line, for commands that are printed to be copied. */
export function readCallName(env: Readonly<Record<string, string | undefined>> = process.env): string {
  if (env.npm_lifecycle_event === 'payments') return 'npm run -s payments --';
  return env.npm_command === 'exec' ? 'npx payments' : 'payments';
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // A container may run as a user that has no entry in passwd.
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}

let loadedFile: string | undefined;
/** The file of settings that this command line was given, for commands that are printed to be copied. */
export const readSettingsFile = (): string | undefined => loadedFile;

/**
 * Adds the variables of a file, written as for systemd. A setting that is given, as a value or as a file, stays as it is.
 * Without `option` it is the file that PAYMENTS_SETTINGS names, if any.
 */
export function loadSettings(option: string | undefined): void {
  loadedFile = option;
  const file = option ?? process.env.PAYMENTS_SETTINGS;
  if (file === undefined || file === '') return;
  const before = { ...process.env };
  const read = readSettings(file);
  if ('fault' in read) throw new OperatorFault(read.fault);
  for (const [name, value] of Object.entries(read.settings)) {
    const forms = name.endsWith('_FILE') ? [name, name.slice(0, -'_FILE'.length)] : [name, fileNameOf(name)];
    if (!forms.some((form) => before[form])) process.env[name] = value;
  }
}

/** For a program that a command starts: it needs no secrets of ours. */
export const environmentWith = (more: Record<string, string>): NodeJS.ProcessEnv => {
  const own = new Set([...keys.map(({ name }) => name), ...secretNames, ...namesWithFiles.map(fileNameOf)]);
  return { ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !own.has(name))), ...more };
};

/** Variables that are probably settings with a typing error. */
export const readMisspelt = (): string[] => findMisspelt(process.env);

/** `hints` may explain what is missing. */
const faultOf = (faults: readonly string[], hints: readonly string[] = []): OperatorFault =>
  new OperatorFault(
    [
      `The configuration has ${faults.length} fault${faults.length > 1 ? 's' : ''}:`,
      ...faults.map((fault) => `  ${fault}`),
      ...hints,
    ].join('\n'),
  );

/** A message that names settings as they are given: `CARD_KEY_FILE` instead of `CARD_KEY`. */
export const namedAsGiven = (
  message: string,
  env: Readonly<Record<string, string | undefined>> = process.env,
): string => asGiven(message, env);

function missingSecret(name: SecretName): string {
  const { doc = '', format = '' } = secretKeys.find((key) => key.name === name) ?? {};
  return `${name} is missing: ${format} (${doc.split(';')[0] ?? ''}), or a file with it in ${fileNameOf(name)}`;
}

const missingPublicUrl = 'PUBLIC_URL is missing: the https URL at which clients reach the service';

/** For a command that uses what it was not given. */
export const secretsFault = (names: readonly SecretName[]): OperatorFault =>
  faultOf(names.map(missingSecret));
export const publicUrlFault = (): OperatorFault => faultOf([missingPublicUrl]);

export const defaultDataDir = resolve(keys.find(({ name }) => name === 'DATA_DIR')?.default ?? '');

/**
 * For commands: in production a missing secret, or PUBLIC_URL, is refused only by a command that uses it. Many need only
 * the database, and whoever runs them should not need the keys of cards.
 */
export const readCommandConfig = (): Config => readConfig(process.env, { isCommand: true });

export function readConfig(
  env: Readonly<Record<string, string | undefined>> = process.env,
  { isCommand = false } = {},
): Config {
  const { value: given, has, faults } = readGiven(env);
  const text = (name: string) => given(name) ?? keys.find((key) => key.name === name)?.default ?? '';
  // Anything else is refused below, together with all faults that production would have.
  const environment =
    nearWord(text('ENVIRONMENT'), ['sandbox', 'production']) === 'sandbox' ? 'sandbox' : 'production';
  for (const key of keys) {
    const value = given(key.name);
    if (value === undefined || key.accepts(value)) continue;
    const meant = nearWord(value, key.words ?? []);
    const unknown = key.name === 'ENVIRONMENT' ? `: \`${value}\` is unknown` : '';
    const hint = meant === undefined ? unknown : `: did you mean ${meant}?`;
    faults.push(`${key.name} must be ${key.format} (${key.doc})${hint}`);
  }
  const secrets = {} as Config['secrets'];
  const olderKeys: Partial<Record<SecretName, readonly Buffer[]>> = {};
  for (const { name, format } of secretKeys) {
    const value = given(name);
    if (value === undefined) {
      if (environment === 'production' && !isCommand && !has(name)) faults.push(missingSecret(name));
      continue;
    }
    const [sealing = '', ...others] = keysIn(value);
    // An older key only opens: a weak one must stay usable until everything is sealed with another.
    const [first, ...older] = [strongKey(sealing), ...others.map(decodeKey)];
    secrets[name] = first;
    olderKeys[name] = older.filter((key) => key !== undefined);
    const isForm = [sealing, ...others].every((key) => decodeKey(key) !== undefined);
    if (!first || !isForm)
      faults.push(`${name} is ${isForm ? 'too weak' : 'not 32 bytes in base64'}: it must be ${format}`);
  }
  if (environment === 'production' && !has('DATABASE_URL')) {
    faults.push('DATABASE_URL is missing: the embedded database is for the sandbox only');
  }
  // Without any part of the URL: what looks like its host may be a part of the password.
  if (hasUnencodedPassword(given('DATABASE_URL') ?? ''))
    faults.push(
      `DATABASE_URL cannot be read: characters such as @ / # ? in the password must be percent-encoded (@ is %40, / is %2F, # is %23, ? is %3F)`,
    );
  else if (hasSeveralHosts(given('DATABASE_URL') ?? ''))
    faults.push(
      `DATABASE_URL must name one host: put a proxy that leads to the primary, such as HAProxy, before several (see docs/operating.md)`,
    );
  if (given('DATABASE_POOLER') !== undefined && !has('DATABASE_URL'))
    faults.push('DATABASE_POOLER needs DATABASE_URL: the embedded database has no pooler');
  if (Number(given('METRICS_PORT') ?? 0) > 0 && Number(text('METRICS_PORT')) === Number(text('PORT')))
    faults.push('METRICS_PORT and PORT must differ from each other');
  if (environment === 'production') {
    const publicUrl = given('PUBLIC_URL');
    if (publicUrl === undefined) {
      if (!isCommand) faults.push(missingPublicUrl);
    } else if (/^http:/i.test(publicUrl))
      faults.push('PUBLIC_URL must be https in production: tokens and card numbers are sent to it');
  }
  // Compared as bytes, because base64 can encode the same bytes in several ways; a reversed key counts as the same.
  const bytes = (name: SecretName) =>
    keysIn(given(name) ?? '').map((key) => {
      const decoded = Buffer.from(key, 'base64');
      return [decoded.toString('hex'), decoded.reverse().toString('hex')].sort()[0] ?? '';
    });
  const shared = secretNames.filter((name) =>
    secretNames.some(
      (other) => other !== name && bytes(name).some((key) => key !== '' && bytes(other).includes(key)),
    ),
  );
  if (shared.length > 0) faults.push(`${shared.join(' and ')} must differ from each other`);
  // Commands tell them before they begin.
  const misspelt = isCommand ? [] : findMisspelt(env);
  const named = (message: string) => asGiven(message, env);
  if (faults.length > 0) throw faultOf(faults.map(named), misspelt);
  const host = text('HOST');
  const port = Number(text('PORT'));
  return {
    environment,
    host,
    port,
    publicUrl: (given('PUBLIC_URL') ?? `http://${isIP(host) === 6 ? `[${host}]` : host}:${port}`).replace(
      /\/+$/,
      '',
    ),
    dataDir: resolve(text('DATA_DIR')),
    databaseUrl: given('DATABASE_URL'),
    databasePooler: given('DATABASE_POOLER') === undefined ? undefined : 'transaction',
    shutdownDelay: Number(text('SHUTDOWN_DELAY')),
    metrics:
      given('METRICS_PORT') === undefined
        ? undefined
        : { host: text('METRICS_HOST'), port: Number(text('METRICS_PORT')) },
    tracing: text('TRACING') === 'on',
    logLevel: text('LOG_LEVEL'),
    bodyLimit: Number(text('BODY_LIMIT')),
    maxConnections: Number(text('MAX_CONNECTIONS')),
    maxRequestsPerConnection: Number(text('MAX_REQUESTS_PER_CONNECTION')),
    webhookWorker: text('WEBHOOK_WORKER') === 'on',
    eventRetentionDays: Number(text('EVENT_RETENTION_DAYS')),
    auditRetentionDays:
      text('AUDIT_RETENTION_DAYS') === '' ? undefined : Number(text('AUDIT_RETENTION_DAYS')),
    providersModule: given('PROVIDERS'),
    missingKeys: text('MISSING_KEYS') === 'accept' ? 'accept' : 'refuse',
    secrets,
    olderCardKeys: olderKeys.CARD_KEY ?? [],
    olderCursorKeys: olderKeys.CURSOR_KEY ?? [],
    ...(given('CARDS_PER_MINUTE') === undefined
      ? {}
      : { cardsPerMinute: cardsPerMinute(text('CARDS_PER_MINUTE')) }),
    warnings: [...misspelt, ...warningsOf(environment, given).map(named)],
  };
}

function warningsOf(
  environment: Config['environment'],
  given: (name: string) => string | undefined,
): string[] {
  const databaseUrl = given('DATABASE_URL');
  if (databaseUrl === undefined) return [];
  const warnings: string[] = [];
  if (given('ENVIRONMENT') === undefined)
    warnings.push(
      `ENVIRONMENT is not set although DATABASE_URL is, so the rules of the sandbox apply: set it to production or sandbox`,
    );
  if (
    environment === 'production' &&
    !isOnThisMachine(databaseUrl) &&
    !hasTls(databaseUrl, given('PGSSLMODE'))
  )
    warnings.push(
      `DATABASE_URL reaches another machine without TLS, so others in the network can read along: add sslmode=verify-full`,
    );
  return warnings;
}

const keysIn = (value: string): string[] => value.split(',').map((key) => key.trim());

const cardsPerMinute = (value: string): number | 'off' => (value === 'off' ? value : Number(value));
