// Settings in files: NAME_FILE is the path of what NAME would be, as Docker, Kubernetes and systemd hand secrets over; and files of
// variables, for `payments --settings`.
import { existsSync, readFileSync, statSync } from 'node:fs';
import { fileNameOf, keys, namesWithFiles, secretNames } from './settings.ts';

type Env = Readonly<Record<string, string | undefined>>;

export interface Given {
  /** Undefined if it is not given. An empty variable counts as unset, as shells and compose files create them. */
  value: (name: string) => string | undefined;
  /** Whether the operator gave it, also if it could not be read. */
  has: (name: string) => boolean;
  faults: string[];
}

/** Reads the files now, so that all faults can be reported at once. */
export function readGiven(env: Env): Given {
  const set = (name: string) => (env[name] === '' ? undefined : env[name]);
  const fromFiles = new Map<string, string | undefined>();
  const faults: string[] = [];
  for (const name of namesWithFiles) {
    const variable = fileNameOf(name);
    const path = set(variable);
    if (path === undefined) continue;
    const found = set(name) === undefined ? readSetting(path) : { fault: undefined };
    fromFiles.set(name, 'text' in found ? found.text : undefined);
    if ('text' in found) continue;
    faults.push(
      found.fault === undefined
        ? `${name} and ${variable} are both given: set only one of them`
        : `${variable} must be the path of a file with the value: ${found.fault}${isPath(path) ? ` (${path})` : ''}`,
    );
  }
  return {
    value: (name) => (fromFiles.has(name) ? fromFiles.get(name) : set(name)),
    has: (name) => fromFiles.has(name) || set(name) !== undefined,
    faults,
  };
}

/** Messages name `CARD_KEY`; the operator may have set `CARD_KEY_FILE` instead, and looks for that. */
export const asGiven = (message: string, env: Env): string =>
  namesWithFiles
    .filter((name) => env[fileNameOf(name)] && !env[name])
    .reduce((text, name) => text.replace(new RegExp(`\\b${name}\\b`, 'g'), fileNameOf(name)), message);

/** A value that leads into no folder may be the secret itself, given to the wrong variable, and is not repeated. */
function isPath(text: string): boolean {
  const [, top] = /^(\/?[^/]+)\//.exec(text) ?? [];
  return top !== undefined && existsSync(top);
}

const mostBytes = 65_536;

function readSetting(path: string): { text: string } | { fault: string } {
  try {
    const file = statSync(path);
    // A pipe is empty the second time, and a command may read its settings twice. A device may never end.
    if (!file.isFile()) return { fault: 'it is not a regular file' };
    if (file.size > mostBytes) return { fault: `it has more than ${mostBytes} bytes` };
    const text = readFileSync(path, 'utf8').replace(/\r?\n$/, '');
    return text === '' ? { fault: 'the file is empty' } : { text };
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    return { fault: reasons[code] ?? `the file cannot be read (${code})` };
  }
}

const reasons: Record<string, string> = {
  ENOENT: 'there is no such file',
  EACCES: 'this user may not read the file',
};

/** The variables of a file that is written as for systemd. */
export function readSettings(file: string): { settings: Record<string, string> } | { fault: string } {
  try {
    const text = readFileSync(file, 'utf8');
    const wrong = wrongLine(text);
    if (wrong !== undefined)
      return { fault: `${file} line ${wrong} names a setting, but is not NAME=value.` };
    return { settings: parseSettings(text) };
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    const faults: Record<string, string> = {
      ENOENT: `There is no file ${file}. Check --settings or PAYMENTS_SETTINGS.`,
      EISDIR: `${file} is a folder. Name the file in it.`,
    };
    const other = `${file} cannot be read (${code}). Call this as a user that may, such as root.`;
    return { fault: faults[code] ?? other };
  }
}

const settings = [...keys.map(({ name }) => name), ...secretNames, ...namesWithFiles.map(fileNameOf)];
const isSettingNamed = new RegExp(`\\b(?:${settings.join('|')})\\b`);

/** A line that systemd would ignore, too, although it names a setting. Told by its number, because it may have a secret. */
function wrongLine(text: string): number | undefined {
  const isIgnored = (line: string) => !/^\s*(?:[#;]|[A-Za-z_]\w*=)/.test(line);
  const at = text.split(/\r?\n/).findIndex((line) => isIgnored(line) && isSettingNamed.test(line));
  return at === -1 ? undefined : at + 1;
}

/** Not by Node, which ends a value at a #. */
export const parseSettings = (text: string): Record<string, string> =>
  Object.fromEntries(
    text
      .replaceAll(/\\\r?\n/g, '')
      .split(/\r?\n/)
      .flatMap((line) => {
        const [, name, value = ''] = /^\s*([A-Za-z_]\w*)=(.*?)\s*$/.exec(line) ?? [];
        const [, , quoted] = /^(["'])(.*)\1$/.exec(value) ?? [];
        return name === undefined ? [] : [[name, quoted ?? value]];
      }),
  );
