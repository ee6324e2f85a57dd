// The format of all files. Prettier takes half a minute for them. With its own cache it still takes seconds, because it resolves the options
// of every file, and that cache is lost with node_modules/ and when the folder is copied or another version of Node runs. So this keeps
// digests of the files that were found formatted, and Prettier reads the others.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { replaceFile } from '../support/files.ts';
import { root } from '../support/root.ts';
import { tool } from './tool.ts';

const listFile = '.cache/formatted.json';
/** What the format depends on, besides the file. */
const settings = [
  ...['.prettierrc.json', '.prettierignore', '.editorconfig'],
  'node_modules/prettier/package.json',
];

export async function checkFormat(): Promise<{ ok: boolean; output: string; claim?: string }> {
  const files = filesInGit();
  // An archive has no Git.
  if (files.length === 0) return prettier(['.']);
  const shared = settings.map(read).join('\0');
  const digestOf = (file: string) =>
    createHash('sha256')
      .update(`${shared}\0${file}\0${read(file)}`)
      .digest('hex');
  const digests = new Map(files.map((file) => [digestOf(file), file]));
  const known = new Set(JSON.parse(read(listFile) || '[]') as string[]);
  const others = [...digests].filter(([digest]) => !known.has(digest)).map(([, file]) => file);
  const outcome = others.length === 0 ? { ok: true, output: '' } : await prettier(others);
  if (outcome.ok) {
    mkdirSync(dirname(join(root, listFile)), { recursive: true });
    replaceFile(join(root, listFile), JSON.stringify([...digests.keys()]));
  }
  return {
    ...outcome,
    ...(outcome.ok && { claim: `Every file is formatted (new or changed: ${others.length})` }),
  };
}

const prettier = (files: string[]) =>
  tool('prettier/bin/prettier.cjs', ['--check', '--log-level=warn', '--ignore-unknown', ...files]);

const read = (file: string): string =>
  existsSync(join(root, file)) ? readFileSync(join(root, file), 'utf8') : '';

function filesInGit(): string[] {
  const args = ['ls-files', '--cached', '--others', '--exclude-standard', '-z'];
  const { stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
  return stdout.split('\0').filter((file) => file !== '' && existsSync(join(root, file)));
}
