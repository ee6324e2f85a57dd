// What changed in the text of the contract: each operation, webhook and component as YAML, compared by git.
import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { isObject, type Json } from './change.ts';
import { operationsOf, placeOf } from './places.ts';

export interface TextChange {
  /** An operation, a webhook or a component, as the report names it. */
  place: string;
  /** As `git diff` prints it, from the first line that has a difference near it. */
  diff: string;
}

export async function textChanges(base: Json, revision: Json): Promise<TextChange[]> {
  const [before, after] = [textsOf(base), textsOf(revision)];
  const places = [...new Set([...before.keys(), ...after.keys()])].filter(
    (place) => before.get(place) !== after.get(place),
  );
  if (places.length === 0) return [];
  const folder = await mkdtemp(join(tmpdir(), 'contract-texts-'));
  try {
    for (const [name, texts] of Object.entries({ before, after })) {
      await mkdir(join(folder, name));
      for (const [index, place] of places.entries())
        await writeFile(join(folder, name, fileOf(index)), texts.get(place) ?? '');
    }
    const args = ['diff', '--no-index', '--no-color', '--no-ext-diff', '--no-prefix', 'before', 'after'];
    // It exits with 1 if there is a difference, and there is one.
    const { stdout } = spawnSync('git', args, { cwd: folder, maxBuffer: 64_000_000, encoding: 'utf8' });
    const diffs = stdout.split(/^diff --git .*$/m).slice(1);
    return places.map((place, index) => ({
      place,
      diff: (diffs[index] ?? '')
        .replace(/^[^]*?^(?=@@)/m, '')
        .replaceAll(/^@@.*@@.*$/gm, '…')
        .trimEnd(),
    }));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Git sorts by name. */
const fileOf = (index: number) => `${String(index).padStart(6, '0')}.yaml`;

function textsOf(contract: Json): Map<string, string> {
  const { paths, webhooks, components, ...document } = contract;
  const named = Object.entries(isObject(components) ? components : {}).flatMap(([kind, map]) =>
    Object.entries(isObject(map) ? map : {}).map(([name, one]) => [
      placeOf(`#/components/${kind}/${name}`),
      one,
    ]),
  );
  const parts = [['document', document], ...operationsOf({ paths, webhooks }), ...named];
  return new Map(parts.map(([place, part]) => [String(place), stringify(part, { lineWidth: 0 })]));
}
