// What a person reads after `npm run mutate`: a score per file, and every survivor with its place and the change.
import { relative } from 'node:path';
import type { Stryker } from '@stryker-mutator/core';

type Mutant = Awaited<ReturnType<Stryker['runMutationTest']>>[number];

/** Mutants that a comment excludes say nothing about the tests. */
type Outcome = 'killed' | 'survived' | 'equivalent';

function outcomeOf({ status, static: isStatic, testsCompleted }: Mutant): Outcome {
  // With this change the module cannot be loaded, so no test ran; Stryker counts only tests that fail. Not so for mutants that
  // are not static: Stryker selects their tests by name, and finds none if a name is another one in every run.
  if (status === 'Survived' && isStatic && testsCompleted === 0) return 'killed';
  if (status === 'Survived' || status === 'NoCoverage') return 'survived';
  return status === 'Ignored' ? 'equivalent' : 'killed';
}

export function summarise(mutants: readonly Mutant[], root: string) {
  const files = [...new Set(mutants.map(({ fileName }) => fileName))].sort();
  const count = (fileName: string, outcome: Outcome) =>
    mutants.filter((mutant) => mutant.fileName === fileName && outcomeOf(mutant) === outcome).length;
  const scores = files.map((fileName) => {
    const [killed, survived] = [count(fileName, 'killed'), count(fileName, 'survived')];
    return {
      file: relative(root, fileName),
      killed,
      survived,
      equivalent: count(fileName, 'equivalent'),
      score: killed + survived === 0 ? 100 : Math.floor((1000 * killed) / (killed + survived)) / 10,
    };
  });
  const survivors = mutants
    .filter((mutant) => outcomeOf(mutant) === 'survived')
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
