/** Creates copies of the contract to break on purpose, in a temporary folder with everything that linting needs. */
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { inject } from 'vitest';
import { root } from '../../scripts/support/root.ts';

/** What to change, by path within openapi/. A file that does not exist starts empty. */
export type Edits = Record<string, (text: string) => string>;

/** A folder with the toolchain. It is removed by `await using` or `[Symbol.asyncDispose]()`. */
export interface Workspace extends AsyncDisposable {
  folder: string;
}

async function workspace(): Promise<Workspace> {
  const folder = await mkdtemp(join(tmpdir(), 'contract-copy-'));
  for (const part of ['redocly.yaml', 'package.json', 'scripts']) {
    await cp(join(root, part), join(folder, part), { recursive: true });
  }
  // Scripts use some of it.
  for (const part of ['scripts', 'server'])
    await cp(join(inject('compiled'), part), join(folder, part), { recursive: true });
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'), 'dir');
  return { folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}

async function copyContract(from: string, to: string, edits: Edits): Promise<void> {
  await cp(from, to, { recursive: true });
  for (const [path, edit] of Object.entries(edits)) {
    const file = join(to, path);
    const before = await readFile(file, 'utf8').catch(() => '');
    const after = edit(before);
    if (after === before) throw new Error(`The edit of ${path} changes nothing. Has the contract moved on?`);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, after);
  }
}

/** A copy of the project with a contract, that of the project by default, changed by `edits`, to run its commands. */
export async function brokenProject(edits: Edits, contract = join(root, 'openapi')): Promise<Workspace> {
  const made = await workspace();
  await copyContract(contract, join(made.folder, 'openapi'), edits);
  return made;
}

/** Replaces the first `from`. Throws if there is none, so that an outdated fixture is noticed. */
export const swap = (from: string | RegExp, to: string) => (text: string) => {
  const found = typeof from === 'string' ? text.includes(from) : from.test(text);
  if (!found) throw new Error(`Nothing to replace: ${String(from)}`);
  return text.replace(from, () => to);
};

export const cut = (from: string | RegExp) => swap(from, '');
