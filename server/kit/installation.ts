// This program: what it was built from, and commands and paths for messages that are printed to be copied. An installation has
// dist/ and bin/, but no scripts of npm.
import { readFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { contractVersion } from '../../generated/operations.ts';
import { projectRoot } from './contract/load.ts';

export const defaultDataDir = resolve('.data');

export interface Build {
  version: string;
  /** The commit. Unknown without a build, and in a build from files without a Git folder. */
  revision?: string;
}

/** `npm run build` writes the file into dist/. */
export function readBuild(folder = projectRoot): Build {
  try {
    const revision = readFileSync(join(folder, 'revision'), 'utf8').trim();
    return { version: contractVersion, revision };
  } catch {
    return { version: contractVersion };
  }
}

/** In one word, as semantic versions have it: `1.0.0+0123456789ab`. */
export const buildText = ({ version, revision }: Build): string =>
  revision === undefined ? version : `${version}+${revision}`;

export const isInstallation = (root = projectRoot): boolean => basename(root) === 'dist';

/** For the shell that this process was started in. */
export function commandsHere(root = projectRoot, cwd = process.cwd()): { start: string; payments: string } {
  if (!isInstallation(root)) return { start: 'npm start', payments: 'npm run -s payments --' };
  const node = (file: string) => `node ${shellWord(relative(cwd, join(dirname(root), file)))}`;
  return { start: node('dist/server/main.js'), payments: node('bin/payments.js') };
}

/** The command in another terminal. It names `dataDir` if that is not the default: there it may not be set. */
export const paymentsIn = (dataDir: string): string =>
  `${dataDir === defaultDataDir ? '' : `DATA_DIR=${shellWord(dataDir)} `}${commandsHere().payments}`;

/** For `npm start`, which prints a call to try. */
export const curlOf = (url: string, dataDir: string): string =>
  `curl -H "Authorization: Bearer $(${paymentsIn(dataDir)} token --scopes '*.read')" \\
  ${url}`;

/** For a command that finds no sandbox. An installation on a production server cannot make one. */
export const settingsHint = (): string =>
  isInstallation()
    ? 'For production, name the file with the settings of the service: payments --settings /etc/payments/payments.env …'
    : `To create a sandbox: ${commandsHere().start}`;

/** Quoted, so that a shell reads it as one word. */
export const shellWord = (text: string): string =>
  /^[\w./:@,=-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
