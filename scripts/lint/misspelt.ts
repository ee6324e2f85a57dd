// A name that is unknown where it stands, and what was probably meant. The rules say which names are known there (`suggest`).
import { nearest } from '../../server/rules/nearest.ts';
import type { Reported } from './problem.ts';

const undefinedRequired = /^Define the required property "([^"]+)"/;
const renamed = /^"([^"]+)" must be snake_case: rename it to "([^"]+)"/;
const unknown = [
  /^Property `([^`]+)` is not expected here/,
  /^The extension (\S+) is not allowed here/,
  /^The format `([^`]+)` is not known here/,
  undefinedRequired,
];

/** Adds what was meant, and holds back that it is missing. */
export function adviseOnNames(problems: Reported[]): Reported[] {
  const misspelt = problems.flatMap((problem) => {
    const meant = meantBy(problem);
    return meant === undefined ? [] : [{ problem, meant }];
  });
  const wrongNames = namesWithoutProperty(problems.filter(({ rule }) => rule === 'house/snake-case'));
  const isConsequence = (problem: Reported) =>
    wrongNames.has(undefinedRequired.exec(problem.message)?.[1] ?? '') ||
    misspelt.some((one) => one.problem !== problem && lacks(problem, one.problem, one.meant));
  return problems
    .filter((problem) => !isConsequence(problem))
    .map((problem) => {
      const { meant } = misspelt.find((one) => one.problem === problem) ?? {};
      return meant === undefined ? problem : { ...problem, message: advised(problem.message, meant) };
    });
}

function meantBy({ message, suggest }: Reported): string | undefined {
  const [name] = unknown.flatMap((pattern) => pattern.exec(message)?.[1] ?? []);
  if (name === undefined || name === 'nullable') return undefined;
  // Redocly does not list `$ref`, which may be almost anywhere.
  const meant = nearest(name, name.startsWith('$') ? ['$ref', ...suggest] : suggest);
  return meant === name ? undefined : meant;
}

const advised = (message: string, meant: string) =>
  message
    .replace(
      undefinedRequired,
      'There is no property `$1`. Did you mean `' + meant + '`? Otherwise define it',
    )
    .replace(/^((?:Property|The \w+) .* here)\..*/, '$1. Did you mean `' + meant + '`?');

/** A fault of the object that has the misspelt name, or of the place where the right name would be. */
function lacks({ file, pointer, message }: Reported, cause: Reported, meant: string): boolean {
  const object = cause.pointer.replace(/\/[^/]*$/, '');
  return (
    file === cause.file &&
    [object, `${object}/${meant}`].includes(pointer) &&
    message.split(/[^\w$-]+/).includes(meant)
  );
}

/** Names that a schema requires and does not have, or is to have. An example has no fault of its own because of one. */
export const namesWithoutProperty = (problems: Reported[]) =>
  new Set(
    problems.flatMap(
      ({ message }) => undefinedRequired.exec(message)?.[1] ?? renamed.exec(message)?.slice(1) ?? [],
    ),
  );
