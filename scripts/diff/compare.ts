// Bundles contracts and compares them with Redocly.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { redocly } from '../support/redocly.ts';
import { root } from '../support/root.ts';
import { isObject, unexplained, type Change, type Json } from './change.ts';
import { withoutDoubles } from './doubles.ts';
import { splitFalseRenames } from './false-renames.ts';
import { alignRefs, isEquivalent, missedChanges } from './missed-by-redocly.ts';

/** A faulty contract. The message is for the user and includes file and line, so it is printed without a stack trace. */
export class ContractFault extends Error {}

export async function bundle(api: string): Promise<Json> {
  return inFolder(async (folder) => {
    const file = join(folder, 'openapi.json');
    const run = await redocly(['bundle', api, '-o', file], { colour: process.stdout.isTTY });
    if (run.status !== 0) throw new ContractFault((run.stdout + run.stderr).trim());
    return readJson(file);
  });
}

export async function readJson(file: string): Promise<Json> {
  const text = await readFile(file, 'utf8');
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value;
  } catch {
    // Throw below, as for JSON that is not an object.
  }
  throw new ContractFault(`${file} is not a JSON object. Restore it, for example from git.`);
}

/** All changes except that of info.version, which announces the others. */
export async function compare(base: Json, revision: Json): Promise<Change[]> {
  if (isDeepStrictEqual(base, revision)) return [];
  const [before, after] = alignRefs(base, revision);
  const reported = splitFalseRenames(await redoclyDiff(before, after), before, after);
  const changes = withoutDoubles(reported).filter(
    (change) => change.path !== '#/info' || change.property !== 'version',
  );
  changes.push(...missedChanges(before, after));
  return changes.length > 0 || isEquivalent(before, after) ? changes : [unexplained];
}

async function redoclyDiff(base: Json, revision: Json): Promise<Change[]> {
  return inFolder(async (folder) => {
    const file = (name: string) => join(folder, name);
    await writeFile(file('base.json'), JSON.stringify(base));
    await writeFile(file('revision.json'), JSON.stringify(revision));
    const options = ['--config', join(root, 'redocly.yaml'), '--format', 'json', '--fail-on', 'none'];
    const run = await redocly([
      'diff',
      file('base.json'),
      file('revision.json'),
      ...options,
      '-o',
      file('diff.json'),
    ]);
    if (run.status !== 0 || run.stderr.includes('No diff rules are on')) {
      throw new ContractFault((run.stdout + run.stderr).trim());
    }
    const report = await readJson(file('diff.json'));
    // The format is experimental: fail rather than misread it after an update.
    if (report.reportVersion !== '1' || !Array.isArray(report.changes)) {
      throw new ContractFault(
        'The report format of `redocly diff` has changed. Adapt scripts/diff/change.ts to it.',
      );
    }
    return report.changes as Change[];
  });
}

async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'contract-diff-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
