// What a person reads after `npm run mutate`: a score per file, and every survivor with its place and the change.
import { relative } from 'node:path';
import type { Stryker } from '@stryker-mutator/core';

type Mutant = Awaited<ReturnType<Stryker['runMutationTest']>>[number];

const noticed = ['Killed', 'Timeout'];
// Mutants that do not compile or that a comment excludes say nothing about the tests.
const unnoticed = ['Survived', 'NoCoverage'];

export function summarise(mutants: readonly Mutant[], root: string) {
  const files = [...new Set(mutants.map(({ fileName }) => fileName))].sort();
  const count = (fileName: string, statuses: string[]) =>
    mutants.filter((mutant) => mutant.fileName === fileName && statuses.includes(mutant.status)).length;
  const scores = files.map((fileName) => {
    const [killed, survived] = [count(fileName, noticed), count(fileName, unnoticed)];
    return {
      file: relative(root, fileName),
      killed,
      survived,
      equivalent: count(fileName, ['Ignored']),
      score: killed + survived === 0 ? 100 : Math.floor((1000 * killed) / (killed + survived)) / 10,
    };
  });
  const survivors = mutants
    .filter(({ status }) => unnoticed.includes(status))
    .map(({ fileName, location: { start }, mutatorName, replacement, status }) => ({
      place: `${relative(root, fileName)}:${start.line}:${start.column}`,
      mutator: mutatorName,
      replacement: replacement.replace(/\s+/g, ' ').slice(0, 100),
      covered: status === 'Survived',
    }));
  const text = (seconds: number) =>
    [
      '',
      '  score  killed  survived  equivalent  file',
      ...scores.map(({ file, killed, survived, equivalent, score }) =>
        [
          score.toFixed(1).padStart(7),
          pad(killed, 8),
          pad(survived, 10),
          pad(equivalent, 12),
          `  ${file}`,
        ].join(''),
      ),
      '',
      ...survivors.map(
        ({ place, mutator, replacement, covered }) =>
          `${place} ${mutator} → ${replacement}${covered ? '' : ' (no test runs this line)'}`,
      ),
      `${mutants.length} mutants, ${survivors.length} survived, ${Math.ceil(seconds / 60)} min`,
    ].join('\n');
  return { facts: { scores, survivors }, text };
}

const pad = (number: number, width: number) => String(number).padStart(width);
