// Bundles contracts and compares them with Redocly.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Contract } from '../generate/contract.ts';
import { withTables } from '../generate/introduction.ts';
import { redocly } from '../support/redocly.ts';
import { root } from '../support/root.ts';
import { isObject, methods, segments, step, type Change, type Json } from './change.ts';
import { alignRefs, missedChanges } from './missed-by-redocly.ts';

/** A faulty contract. The message is for the user and includes file and line, so it is printed without a stack trace. */
export class ContractFault extends Error {}

/** With the tables of the introduction, as consumers read it. */
export async function bundle(file: string, project = root): Promise<Json> {
  const contract = await resultOf(['bundle', file, '--config', join(project, 'redocly.yaml')]);
  return { ...contract, ...withTables(contract as Json & Contract) };
}

/** All changes except that of info.version, which announces the others. */
export async function compare(base: Json, revision: Json): Promise<Change[]> {
  const [before, after] = alignRefs(base, revision);
  const reported = await redoclyDiff(before, after);
  return [...reported.flatMap(operationsOfPath), ...missedChanges(before, after, reported)].filter(
    (change) => change.path !== '#/info' || change.property !== 'version',
  );
}

/** A new path is new operations. */
function operationsOfPath(change: Change): Change[] {
  const { kind, typeName, path, revision } = change;
  const item = revision?.value;
  if (kind !== 'added' || typeName !== 'PathItem' || segments(path)[0] !== 'paths' || !isObject(item))
    return [change];
  return Object.keys(item)
    .filter((key) => methods.has(key))
    .map((key) => ({
      ...{ path: step(path, key), typeName: 'Operation', kind, verdicts: [] },
      revision: { pointer: step(revision?.pointer ?? path, key), value: item[key] },
    }));
}

async function redoclyDiff(base: Json, revision: Json): Promise<Change[]> {
  const report = await inFolder(async (folder) => {
    const [before, after] = [join(folder, 'base.json'), join(folder, 'revision.json')];
    await writeFile(before, JSON.stringify(base));
    await writeFile(after, JSON.stringify(revision));
    const options = ['--config', join(root, 'redocly.yaml'), '--format', 'json', '--fail-on', 'none'];
    return resultOf(['diff', before, after, ...options]);
  });
  // The format is experimental: fail rather than misread it after an update.
  if (report.reportVersion !== '1' || !Array.isArray(report.changes))
    throw new ContractFault(
      'The report format of `redocly diff` has changed. Adapt scripts/diff/change.ts to it.',
    );
  return report.changes as Change[];
}

/** The JSON that a command of Redocly writes. */
const resultOf = (command: string[]): Promise<Json> =>
  inFolder(async (folder) => {
    const file = join(folder, 'result.json');
    const { status, stdout, stderr } = await redocly([...command, '-o', file]);
    if (status !== 0 || stderr.includes('No diff rules are on'))
      throw new ContractFault((stdout + stderr).trim());
    return JSON.parse(await readFile(file, 'utf8')) as Json;
  });

async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'contract-diff-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
