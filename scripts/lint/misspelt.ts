// A name that is unknown where it stands, and what was probably meant. The rules say which names are known there (`suggest`).
import { nearest } from './did-you-mean.ts';
import type { Reported } from './problem.ts';

const undefinedRequired = /^Define the required property "([^"]+)"/;
const unknown = [
  /^Property `([^`]+)` is not expected here/,
  /^The extension (\S+) is not allowed here/,
  undefinedRequired,
];

/** Adds what was meant, and holds back that it is missing. */
export function adviseOnNames(problems: Reported[]): Reported[] {
  const misspelt = problems.flatMap((problem) => {
    const meant = meantBy(problem);
    return meant === undefined ? [] : [{ problem, meant }];
  });
  const isConsequence = (problem: Reported) =>
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
  return name === undefined ? undefined : nearest(name, suggest);
}

const advised = (message: string, meant: string) =>
  message
    .replace(
      undefinedRequired,
      'There is no property `$1`. Did you mean `' + meant + '`? Otherwise define it',
    )
    .replace(/^((?:Property|The extension) .* here)\..*/, '$1. Did you mean `' + meant + '`?');

/** A fault of the object that has the misspelt name, or of the place where the right name would be. */
function lacks({ file, pointer, message }: Reported, cause: Reported, meant: string): boolean {
  const object = cause.pointer.replace(/\/[^/]*$/, '');
  return (
    file === cause.file &&
    [object, `${object}/${meant}`].includes(pointer) &&
    message.split(/[^\w$-]+/).includes(meant)
  );
}

/** Names that a schema requires and does not have. An example that lacks one has no fault of its own. */
export const namesWithoutProperty = (problems: Reported[]) =>
  new Set(problems.flatMap(({ message }) => undefinedRequired.exec(message)?.[1] ?? []));
