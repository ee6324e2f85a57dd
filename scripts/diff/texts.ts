// What changed in the text of the contract: each operation, webhook and component as YAML, compared by git.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { isObject, type Json } from './change.ts';
import { operationsOf, placeOf } from './places.ts';

/** For each operation, webhook or component that differs, as the report names it, what `git diff` prints. */
export function textChanges(base: Json, revision: Json): { place: string; diff: string }[] {
  const [before, after] = [textsOf(base), textsOf(revision)];
  const places = [...new Set([...before.keys(), ...after.keys()])].filter(
    (place) => before.get(place) !== after.get(place),
  );
  const folder = mkdtempSync(join(tmpdir(), 'contract-texts-'));
  const args = ['diff', '--no-index', '--no-color', '--no-ext-diff', 'before', 'after'];
  try {
    return places.map((place) => {
      writeFileSync(join(folder, 'before'), before.get(place) ?? '');
      writeFileSync(join(folder, 'after'), after.get(place) ?? '');
      // It exits with 1 if there is a difference, and there is one.
      const { stdout } = spawnSync('git', args, { cwd: folder, maxBuffer: 64_000_000, encoding: 'utf8' });
      const diff = stdout.replace(/^[^]*?^(?=@@)/m, '').replaceAll(/^@@.*@@.*$/gm, '…');
      return { place, diff: diff.trimEnd() };
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

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
