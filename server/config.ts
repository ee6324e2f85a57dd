// The only module that reads process.env. settings.ts has the table of all settings. All faults are reported at once.
import { readFileSync, statSync } from 'node:fs';
import { isIP } from 'node:net';
import { userInfo } from 'node:os';
import { resolve } from 'node:path';
import { programName } from '../generated/operations.ts';
import { isExposed } from './kit/database/url.ts';
import { ConfigurationFault } from './kit/faults.ts';
import { settingsVariable } from './kit/installation.ts';
import { nearest } from './kit/rules/nearest.ts';
import { parseSettings } from './kit/settings-file.ts';
import {
  fileNameOf,
  namesWithFiles,
  orFile,
  rows,
  secretNames,
  settings,
  type SecretName,
  type SettingName,
  type Values,
} from './settings.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** `DATA_DIR` is `dataDir` in the code. */
type InCode<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${Lowercase<First>}${Capitalize<InCode<Rest>>}`
  : Lowercase<Name>;

type Named = { [Name in Exclude<SettingName, SecretName> as InCode<Name>]: Values[Name] };

export type Config = Named & {
  publicUrl: string;
  secrets: Pick<Values, SecretName>;
  /** What works but is probably a mistake, for the log at start. */
  warnings: string[];
};

/** Who runs a command, for the audit trail; with sudo also who called it. */
export function readOperator(env: Env = process.env): string {
  const name = userName();
  return env.SUDO_USER && env.SUDO_USER !== name ? `${env.SUDO_USER} as ${name}` : name;
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // A container may run as a user that has no entry in passwd.
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}

/**
 * Adds the variables of a file. A setting that is given, as a value or as a file, stays as it is. Without `option` it is the
 * file that `settingsVariable` names, if any. Returns a warning for each name that is misspelt, there or in the environment, and for
 * each line that sets nothing.
 */
export function loadSettings(option: string | undefined): string[] {
  const file = option ?? valueIn(process.env, settingsVariable);
  const before = { ...process.env };
  const warnings = misspelt(before, 'The environment');
  if (file === undefined || file === '') return warnings;
  const { variables, odd } = readSettings(file);
  for (const [name, value] of Object.entries(variables)) {
    const other = name.endsWith('_FILE') ? name.slice(0, -'_FILE'.length) : fileNameOf(name);
    if (!valueIn(before, name) && !valueIn(before, other)) process.env[name] = value;
  }
  // Not the line itself, which may have a secret.
  const lines = odd.map((line) => `${file}: line ${line} is no NAME=value, so it sets nothing.`);
  return [...warnings, ...lines, ...misspelt(variables, file)];
}

const known: readonly string[] = [...rows.map(([name]) => name), ...namesWithFiles.map(fileNameOf)];

/** Only names that are nearly those of settings: any other may be meant for Node or a provider. */
const misspelt = (variables: Env, where: string): string[] =>
  Object.keys(variables).flatMap((name) => {
    const meant = known.includes(name) ? undefined : nearest(name, known, name.length / 5);
    return meant === undefined ? [] : `${where} sets ${name}, which is no setting. Did you mean ${meant}?`;
  });

function readSettings(file: string): ReturnType<typeof parseSettings> {
  try {
    return parseSettings(readText(file));
  } catch (error) {
    throw new ConfigurationFault(
      `The settings in ${file} cannot be read: ${whyUnreadable(error)}. Check --settings or ${settingsVariable}.`,
    );
  }
}

/** Without the mark with which some editors begin a file. */
const readText = (file: string): string => readFileSync(file, 'utf8').replace(/^\u{FEFF}/u, '');

const faultOf = (faults: readonly string[]): ConfigurationFault =>
  new ConfigurationFault(
    [
      `The configuration has ${faults.length} fault${faults.length > 1 ? 's' : ''}:`,
      ...faults.map((fault) => `  ${fault}`),
    ].join('\n'),
  );

function missing(name: SettingName): string {
  const { doc, format } = settings[name];
  const inFile = namesWithFiles.includes(name) ? `, or a file with it in ${fileNameOf(name)}` : '';
  return `${name} is missing: ${format} (${doc})${inFile}`;
}

/** For a command that uses what it was not given. */
export const missingFault = (names: readonly SettingName[]): ConfigurationFault =>
  faultOf(names.map(missing));

/**
 * For commands: in production a missing secret, or PUBLIC_URL, is refused only by a command that uses it. Many need only
 * the database, and operators who run them should not need the keys of cards.
 */
export const readCommandConfig = (): Config => readConfig(process.env, { isCommand: true });

export const isProduction = (env: Env = process.env): boolean => valueIn(env, 'ENVIRONMENT') === 'production';

/** Without the end of a line that Windows writes: `. ./.env` and env_file of Compose leave it there, where nobody sees it. */
const valueIn = (env: Env, name: string): string | undefined => env[name]?.replace(/\r$/, '');

/** For `start`, whose options replace settings. */
export const readStartConfig = (defaults: Env, replaced: Env): Config =>
  readConfig({ ...defaults, ...process.env, ...replaced });

export function readConfig(env: Env = process.env, { isCommand = false } = {}): Config {
  const faults: string[] = [];
  const given = readGiven(env, faults);
  const values = parseGiven(given, faults);
  const { CARD_KEY, CURSOR_KEY } = values;
  // Any other ENVIRONMENT is refused together with all faults that production would have.
  if ((values.ENVIRONMENT as string | undefined) !== 'sandbox') {
    const required = rows.filter(([name, { isRequired }]) => isRequired && !given.has(name));
    for (const [name] of required) if (!isCommand || name === 'DATABASE_URL') faults.push(missing(name));
    if (/^http:/i.test(values.PUBLIC_URL ?? ''))
      faults.push('PUBLIC_URL must be https in production: tokens and card numbers are sent to it');
  }
  if (values.DATABASE_POOLER && !given.has('DATABASE_URL'))
    faults.push(
      'DATABASE_POOLER needs DATABASE_URL (or DATABASE_URL_FILE): the embedded database has no pooler',
    );
  if (values.METRICS_PORT && values.METRICS_PORT === values.PORT)
    faults.push('METRICS_PORT and PORT must differ from each other');
  if (CARD_KEY?.some((key) => CURSOR_KEY?.some((other) => key.equals(other))))
    faults.push(`${orFile('CARD_KEY')} and ${orFile('CURSOR_KEY')} must differ from each other`);
  if (faults.length > 0) throw faultOf(faults);
  const host = isIP(values.HOST) === 6 ? `[${values.HOST}]` : values.HOST;
  return {
    ...namedInCode(values),
    publicUrl: (values.PUBLIC_URL ?? `http://${host}:${values.PORT}`).replace(/\/+$/, ''),
    dataDir: resolve(values.DATA_DIR),
    secrets: { CARD_KEY, CURSOR_KEY },
    warnings: warningsOf(values, given, env),
  };
}

const namedInCode = (values: Values): Named => {
  const inCode = (name: string) =>
    name.toLowerCase().replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  const others = rows.filter(([name]) => !(secretNames as readonly string[]).includes(name));
  return Object.fromEntries(others.map(([name]) => [inCode(name), values[name]])) as unknown as Named;
};

/** The texts of the settings that were given, or undefined for one that could not be read. */
type Texts = ReadonlyMap<SettingName, string | undefined>;

/** An empty variable counts as unset, as shells and compose files create them. */
function readGiven(env: Env, faults: string[]): Texts {
  const given = new Map<SettingName, string | undefined>();
  for (const [name] of rows) {
    const value = valueIn(env, name);
    if (value) given.set(name, value);
  }
  for (const name of namesWithFiles) {
    const variable = fileNameOf(name);
    const file = valueIn(env, variable);
    if (!file) continue;
    if (given.has(name)) faults.push(`${name} and ${variable} are both given: set only one of them`);
    else
      try {
        given.set(name, readSecret(file));
      } catch (error) {
        given.set(name, undefined);
        // Without the path: it may be the secret itself, given to the wrong variable.
        faults.push(`${variable} must be the path of a file with the value: ${whyUnreadable(error)}`);
      }
  }
  return given;
}

function readSecret(file: string): string {
  // A pipe is empty the second time, and a command may read its settings twice. A device may never end.
  if (!statSync(file).isFile()) throw new Error('it is not a regular file');
  const text = readText(file).replace(/\r?\n$/, '');
  if (text === '') throw new Error('the file is empty');
  return text;
}

const reasons: Record<string, string> = {
  ENOENT: 'there is no such file',
  EACCES: 'this user may not read the file',
  EISDIR: 'it is a folder',
};

function whyUnreadable(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code === undefined ? message : (reasons[code] ?? `the file cannot be read (${code})`);
}

function parseGiven(given: Texts, faults: string[]): Values {
  const values: Partial<Record<SettingName, unknown>> = {};
  for (const [name, { doc, format, parse, explain, default: text }] of rows) {
    const read = given.has(name) ? given.get(name) : text;
    if (read === undefined) continue;
    values[name] = parse(read);
    if (values[name] === undefined)
      faults.push(`${orFile(name)} ${explain?.(read) ?? `must be ${format} (${doc})`}`);
  }
  return values as Values;
}

/** The settings of earlier releases that are gone. */
const removed = {
  MISSING_KEYS: `If CARD_KEY is lost: ${programName} secrets replace-lost-keys`,
  MAX_REQUESTS_PER_CONNECTION: 'A connection may send 1,000 requests.',
  MAX_CONNECTIONS: '2,000 connections may be open at once.',
};

function warningsOf({ DATABASE_URL: url, ENVIRONMENT }: Values, given: Texts, env: Env): string[] {
  const warnings = namesWithFiles
    .map(fileNameOf)
    .filter((name) => {
      const file = valueIn(env, name);
      return file && (statSync(file).mode & 0o004) !== 0;
    })
    .map(
      (name) =>
        `${name} is a file that every user of this machine can read: let only the user of the service read it`,
    );
  warnings.push(...misspelt(env, 'The environment'));
  for (const [name, instead] of Object.entries(removed))
    if (valueIn(env, name)) warnings.push(`${name} has no effect any more. ${instead}`);
  if (url === undefined) return warnings;
  if (!given.has('ENVIRONMENT'))
    warnings.push(
      `ENVIRONMENT is not set although ${orFile('DATABASE_URL')} is, so the rules of the sandbox apply: set it to production or sandbox`,
    );
  if (ENVIRONMENT === 'production' && isExposed(url, env))
    warnings.push(
      `${orFile('DATABASE_URL')} reaches another machine without TLS, so others in the network can read the data: add sslmode=verify-full`,
    );
  return warnings;
}
