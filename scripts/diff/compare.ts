// Bundles the contract, has Redocly compare it, and adds the few values that Redocly does not look into.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { redocly, root } from '../support/redocly.ts';
import { isObject, step, unseen, type Change, type Json } from './change.ts';

/** Redocly's own words, with file and line: nothing to add. */
export class ContractFault extends Error {}

export async function bundle(api: string): Promise<Json> {
  return inFolder(async (folder) => {
    const file = join(folder, 'openapi.json');
    const run = await redocly(['bundle', api, '-o', file], { colour: process.stdout.isTTY });
    if (run.status !== 0) throw new ContractFault((run.stdout + run.stderr).trim());
    return parse(await readFile(file, 'utf8'));
  });
}

export function parse(text: string): Json {
  const value: unknown = JSON.parse(text);
  if (!isObject(value)) throw new ContractFault('The contract is not an object.');
  return value;
}

export async function compare(base: Json, revision: Json): Promise<Change[]> {
  const changes = await inFolder(async (folder) => {
    const [before, after, output] = ['released.json', 'contract.json', 'diff.json'].map((name) =>
      join(folder, name),
    );
    if (!before || !after || !output) return [];
    await Promise.all([writeFile(before, JSON.stringify(base)), writeFile(after, JSON.stringify(revision))]);
    const config = join(root, 'redocly.yaml');
    const options = ['--config', config, '--format', 'json', '--fail-on', 'none', '-o', output];
    const run = await redocly(['diff', before, after, ...options]);
    if (run.status !== 0 || run.stderr.includes('No diff rules are on')) {
      throw new ContractFault((run.stdout + run.stderr).trim());
    }
    return report(parse(await readFile(output, 'utf8')));
  });
  const all = [
    ...changes.filter((change) => change.path !== '#/info' || change.property !== 'version'),
    ...hidden(base, revision),
  ];
  return all.length === 0 && order(withoutVersion(base)) !== order(withoutVersion(revision)) ? [unseen] : all;
}

// The format is experimental: better to stop than to misread it after an update.
function report(output: Json): Change[] {
  if (output.reportVersion !== '1' || !Array.isArray(output.changes)) {
    throw new ContractFault(
      '`redocly diff` writes another format than scripts/diff/change.ts describes. Pin @redocly/cli.',
    );
  }
  return output.changes as Change[];
}

// Redocly compares plain values and lists of them. Objects inside these it passes over.
const passedOver = new Set(['example', 'examples', 'value', 'default', 'const', 'enum']);

function hidden(base: unknown, revision: unknown, pointer = '#', parent = ''): Change[] {
  if (Array.isArray(base) && Array.isArray(revision) && base.length === revision.length) {
    return base.flatMap((item, index) => hidden(item, revision[index], step(pointer, String(index)), ''));
  }
  if (!isObject(base) || !isObject(revision)) return [];
  return Object.keys(base).flatMap((key) => {
    const [before, after, place] = [base[key], revision[key], step(pointer, key)];
    const named = parent === 'properties';
    const whole = passedOver.has(key) && !named && (key !== 'examples' || Array.isArray(before));
    if (!whole) return hidden(before, after, place, named ? '' : key);
    if (plain(before) || plain(after) || isDeepStrictEqual(before, after)) return [];
    const typeName = key === 'value' ? 'Example' : 'Schema';
    const sides = { base: { pointer: place, value: before }, revision: { pointer: place, value: after } };
    return [{ path: pointer, typeName, kind: 'modified' as const, property: key, ...sides, verdicts: [] }];
  });
}

const scalar = (value: unknown) => typeof value !== 'object' || value === null;
const plain = (value: unknown) => scalar(value) || (Array.isArray(value) && value.every(scalar));

const withoutVersion = (contract: Json) => ({
  ...contract,
  info: { ...(contract.info as Json), version: '' },
});

const order = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(order).sort().join()}]`;
  if (!isObject(value)) return JSON.stringify(value);
  return `{${Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${order(value[key])}`)
    .join()}}`;
};

async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'contract-diff-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
