// Holds back the problems that follow from others and go away with them, so that each fault is said once.
import { dirname, posix } from 'node:path';
import { steps } from './did-you-mean.ts';
import { conform } from './example-faults.ts';
import type { Reported } from './problem.ts';
import type { Sources } from './sources.ts';

export const pathRules = ['paths-kebab-case', 'path-segment-plural'];

/** What these refuse, no other rule can judge. */
const isInvalid = ({ rule }: Reported) => ['struct', 'house/valid-schema'].includes(rule);
const isHouseRule = ({ rule }: Reported) =>
  (rule.startsWith('house/') && rule !== 'house/valid-schema') ||
  ['path-parameters-defined', 'no-enum-type-mismatch', 'no-schema-type-mismatch'].includes(rule);
/** These judge what the file refers to. */
const seesOtherFiles = ({ rule }: Reported) =>
  [
    ...['list-shape', 'shared-errors', 'idempotency-key', 'paired-examples'].map((name) => `house/${name}`),
    ...['error-schema', 'response-headers', 'resource-type', 'described'].map((name) => `house/${name}`),
    'path-parameters-defined',
  ].includes(rule);
const isOrphan = ({ rule }: Reported) => ['house/no-orphans', 'no-unused-components'].includes(rule);
const isErrored = ({ message }: Reported) => message.startsWith('Example validation errored');
const isAboutExamples = (problem: Reported) => problem.message.startsWith(conform) || isErrored(problem);

const isWithin = (pointer: string, other: string) => `${pointer}/`.startsWith(`${other}/`);
export const parentOf = (pointer: string) => pointer.replace(/\/[^/]*$/, '');

export function withoutConsequences(problems: Reported[], sources: Sources): Reported[] {
  const causes = problems.filter((problem) => !isErrored(problem));
  const found = causes.length > 0 ? causes : problems;
  const files = found.some(isInvalid) ? referencesIn(sources) : undefined;
  const isThroughReference = (problem: Reported, cause: Reported) =>
    isInvalid(cause) &&
    ((seesOtherFiles(problem) && files?.of(problem.file).includes(cause.file)) ||
      (isAboutExamples(problem) && files?.isShownBy(problem.file, cause.file)));
  return found.filter(
    (problem) => !found.some((cause) => follows(problem, cause) || isThroughReference(problem, cause)),
  );
}

/**
 * Whether one problem follows from another:
 * - what a broken reference should have led to is missing for other rules;
 * - the file and the scope of a path are named after it, so a wrong name is reported for all;
 * - house rules cannot judge an object that is not valid, nor a name that is not known, nor find what they refer to;
 * - no example matches a schema that is not valid;
 * - what is named like a list is judged as one;
 * - an example with a wrong code leaves the right code without an example.
 */
function follows(problem: Reported, cause: Reported): boolean {
  const { rule, file, pointer, message } = problem;
  if (problem === cause) return false;
  if (rule === 'house/error-code')
    return cause.message.startsWith(`${conform}\`code\` property must be equal`);
  if (isInvalid(cause)) {
    if (isOrphan(problem)) return true;
    const [, name] = /^Property `([^`]+)` is not expected here/.exec(cause.message) ?? [];
    if (isHouseRule(problem) && name !== undefined && message.split(/[^\w$-]+/).includes(name)) return true;
    if (isHouseRule(problem) && file === cause.file) return isWithin(pointer, parentOf(cause.pointer));
  }
  if (rule === 'house/operation-scope' && [...pathRules, 'house/component-name'].includes(cause.rule))
    return message.includes(` ${steps(cause.pointer)[1]}. `);
  if (!rule.startsWith('house/') || file !== cause.file) return false;
  if (rule === 'house/list-shape' && cause.rule === 'house/operation-id')
    return isWithin(pointer, parentOf(cause.pointer));
  if (cause.rule === 'no-unresolved-refs') return isWithin(cause.pointer, pointer);
  return pathRules.includes(cause.rule) && isWithin(pointer, cause.pointer);
}

function referencesIn(sources: Sources) {
  const all = new Map(
    [...sources].map(([file, { text }]) => [
      file,
      [...text.matchAll(/\$ref: ['"]?([^\s#'"]+)/g)].map(([, ref = '']) => posix.join(dirname(file), ref)),
    ]),
  );
  const of = (file: string) => all.get(file) ?? [];
  const reaches = (file: string, target: string, seen = new Set<string>()): boolean => {
    if (seen.has(file)) return false;
    seen.add(file);
    return file === target || of(file).some((other) => reaches(other, target, seen));
  };
  const isExample = (file: string) => file.startsWith('openapi/components/examples/');
  /** Those that show the example, also as a part of another example. */
  const showing = (file: string, seen = new Set<string>()): string[] => {
    if (!isExample(file)) return [file];
    if (seen.has(file)) return [];
    seen.add(file);
    return [...all.keys()].filter((user) => of(user).includes(file)).flatMap((user) => showing(user, seen));
  };
  /** Whether a file that shows the example also has that schema in it. */
  const isShownBy = (example: string, schema: string) =>
    showing(example).some((file) => reaches(file, schema));
  return { of, isShownBy };
}
