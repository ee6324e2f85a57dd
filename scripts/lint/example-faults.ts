// Examples are made from each other by $ref, so one fault shows in a dozen of them, once for each alternative of the schema. This
// leads to the examples that have the fault themselves, with one message for each place.
import { dirname, posix } from 'node:path';
import { isMap } from 'yaml';
import { steps } from './did-you-mean.ts';
import type { Problem, Reported } from './problem.ts';
import { positionOf, type Sources } from './sources.ts';

const conform = 'Example value must conform to the schema: ';
const isExampleFault = ({ message }: Reported) => message.startsWith(conform);
const faultOf = ({ message }: Reported) => message.slice(conform.length).replace(/\.$/, '');

export function groupExampleFaults(problems: Reported[], sources: Sources): Problem[] {
  const groups = new Map<string, { problem: Problem; faults: Set<string> }>();
  for (const reported of withoutAlternatives(problems.filter(isExampleFault))) {
    const fault = faultOf(reported);
    const { rule, file, line, column, pointer, message } = reported;
    const missing = /must have required property '([^']+)'/.exec(fault)?.[1];
    const base = baseOf({ file, path: steps(pointer) }, missing, sources);
    const position = positionOf(sources, base.file, base.path);
    const problem = {
      rule,
      message,
      ...(position ? { file: base.file, ...position } : { file, line, column }),
    };
    const place = `${problem.file}:${problem.line}:${problem.column}`;
    const faults = groups.get(place)?.faults ?? new Set<string>();
    groups.set(place, { problem, faults: faults.add(plain(fault)) });
  }
  return [
    ...problems.filter((problem) => !isExampleFault(problem)),
    ...[...groups.values()].map(({ problem, faults }) => {
      const message = `This example does not match its schema: ${[...faults].join('; ').replace(/[.?]?$/, (end) => end || '.')}`;
      return { ...problem, message };
    }),
  ];
}

const isAlternative = (problem: Reported) =>
  /must match (a|exactly one) schema in (anyOf|oneOf)$|type must be null$/.test(faultOf(problem));

/** That no alternative matches, and that it is not null either, follows from another fault of the value or in it. */
function withoutAlternatives(problems: Reported[]): Reported[] {
  const causes = problems.filter((problem) => !isAlternative(problem));
  const isWithin = (one: Reported, { file, pointer }: Reported) =>
    one.file === file && `${one.pointer}/`.startsWith(`${pointer}/`);
  return problems.filter(
    (problem) => causes.includes(problem) || !causes.some((cause) => isWithin(cause, problem)),
  );
}

/** Without Ajv's words for properties. */
const plain = (fault: string) =>
  fault
    .replace(/ type must be ([\w,]+)$/, (_, types: string) => ` must be ${types.replaceAll(',', ' or ')}`)
    .replace(/^(`.*`) property /, '$1 ')
    .replace(/^.*must have required property '([^']+)'$/, 'it lacks `$1`')
    .replace(/^.*must NOT have (?:additional|unevaluated) properties (`[^`]+`)$/, 'the schema has no $1');

interface Place {
  file: string;
  path: string[];
}

/** Follows each $ref on the way, unless what is beside it overrides its target. */
function baseOf({ file, path }: Place, missing: string | undefined, sources: Sources, depth = 0): Place {
  const source = sources.get(file);
  if (!source || depth > 20) return { file, path };
  const jump = (at: string[], rest: string[]): Place | undefined => {
    const node = at.length === 0 ? source.document.contents : source.document.getIn(at, true);
    if (!isMap(node)) return undefined;
    const ref = node.get('$ref');
    const [next = missing] = rest;
    if (typeof ref !== 'string' || (next !== undefined && node.has(next))) return undefined;
    const [target = '', pointer = ''] = ref.split('#');
    const other = target === '' ? file : posix.join(dirname(file), target);
    if (!sources.has(other)) return undefined;
    return baseOf({ file: other, path: [...steps(pointer), ...rest] }, missing, sources, depth + 1);
  };
  for (const index of [...path.keys(), path.length]) {
    const found = jump(path.slice(0, index), path.slice(index));
    if (found) return found;
  }
  return { file, path };
}
