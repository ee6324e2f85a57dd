// This program: what it was built from, and commands and paths for messages that are printed to be copied. An installation has
// dist/ and bin/, but no scripts of npm.
import { readFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { contractVersion, packageName, programName } from '../../generated/operations.ts';
import { projectRoot } from './contract/load.ts';

/** In a sentence. */
export const serviceName = packageName.replaceAll('-', ' ');

/** May name a file with settings. */
export const settingsVariable = `${programName.toUpperCase().replaceAll('-', '_')}_SETTINGS`;

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
export function commandsHere(root = projectRoot, cwd = process.cwd()): { start: string; command: string } {
  if (!isInstallation(root)) return { start: 'npm start', command: `npm run -s ${programName} --` };
  const node = (file: string) => `node ${shellWord(relative(cwd, join(dirname(root), file)))}`;
  return { start: node('dist/server/main.js'), command: node(`bin/${programName}.js`) };
}

/** The command in another terminal. It names `dataDir` if that is not the default: there it may not be set. */
export const commandIn = (dataDir: string): string =>
  `${dataDir === defaultDataDir ? '' : `DATA_DIR=${shellWord(dataDir)} `}${commandsHere().command}`;

/** For `npm start`, which prints a call to try. */
export const curlOf = (url: string, dataDir: string): string =>
  `curl -H "Authorization: Bearer $(${commandIn(dataDir)} token --scopes '*.read')" \\
  ${url}`;

/** For a command that finds no sandbox. An installation on a production server cannot make one. */
export const settingsHint = (): string =>
  isInstallation()
    ? `For production, name the file with the settings of the service: ${programName} --settings /etc/${programName}/${programName}.env …`
    : `To create a sandbox: ${commandsHere().start}`;

/** Quoted, so that a shell reads it as one word. */
export const shellWord = (text: string): string =>
  /^[\w./:@,=-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
