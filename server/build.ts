// What this program was built from: the version, and in a build of a clone also the commit.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { contractVersion } from '../generated/operations.ts';
import { projectRoot } from './contract/load.ts';

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
