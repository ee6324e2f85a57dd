// Compares two contracts with Redocly.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ContractFault } from '../../server/kit/contract/load.ts';
import { withoutTables } from '../generate/introduction.ts';
import { redocly } from '../support/redocly.ts';
import { root } from '../support/root.ts';
import { isObject, methods, segments, step, type Change, type Json } from './change.ts';
import { alignRefs, missedChanges } from './missed-by-redocly.ts';

/** All changes but those that follow from the others. */
export async function compare(base: Json, revision: Json): Promise<Change[]> {
  const [before, after] = alignRefs(base, revision);
  const reported = await redoclyDiff(before, after);
  // The version announces the others.
  const following = ['version'];
  // The tables of the introduction list what the others added.
  if (introductionOf(base) === introductionOf(revision)) following.push('description');
  return [...reported.flatMap(operationsOfPath), ...missedChanges(before, after, reported)].filter(
    ({ path, property = '' }) => path !== '#/info' || !following.includes(property),
  );
}

const introductionOf = ({ info }: Json) =>
  isObject(info) && typeof info.description === 'string' ? withoutTables(info.description) : undefined;

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
  const folder = await mkdtemp(join(tmpdir(), 'contract-diff-'));
  try {
    const [before, after] = [join(folder, 'base.json'), join(folder, 'revision.json')];
    await writeFile(before, JSON.stringify(base));
    await writeFile(after, JSON.stringify(revision));
    const options = [
      '--config',
      join(root, 'scripts/diff/redocly.yaml'),
      '--format',
      'json',
      '--fail-on',
      'none',
    ];
    const file = join(folder, 'result.json');
    const { status, stdout, stderr } = await redocly(['diff', before, after, ...options, '-o', file]);
    if (status !== 0 || stderr.includes('No diff rules are on'))
      throw new ContractFault((stdout + stderr).trim());
    const report = JSON.parse(await readFile(file, 'utf8')) as Json;
    // The format is experimental: fail rather than misread it after an update.
    if (report.reportVersion !== '1' || !Array.isArray(report.changes))
      throw new ContractFault(
        'The report format of `redocly diff` has changed. Adapt scripts/diff/change.ts to it.',
      );
    return report.changes as Change[];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
