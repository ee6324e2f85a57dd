// A value that does not match its schema is reported once for each alternative of the schema, and once for each fault. This makes it
// one message for each place; and one for all places of a file, if they have the same faults: a page has many records.
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
    const problem = {
      ...{ rule, message, file, line, column },
      // Of the key, where Redocly names the value.
      ...positionOf(sources, file, steps(pointer)),
    };
    const place = `${problem.file}:${problem.line}:${problem.column}`;
    const faults = groups.get(place)?.faults ?? new Set<string>();
    groups.set(place, { problem, faults: faults.add(plain(fault)) });
  }
  const faulty = [...groups.values()].map(({ problem, faults }) => {
    const message = `This example does not match its schema: ${[...faults].join('; ')}`;
    return { ...problem, message };
  });
  return [...problems.filter((problem) => !isExampleFault(problem)), ...oncePerFile(faulty)];
}

function oncePerFile(problems: Problem[]): Problem[] {
  const alike = new Map<string, Problem[]>();
  for (const problem of problems) {
    const key = `${problem.file} ${problem.message}`;
    alike.set(key, [...(alike.get(key) ?? []), problem]);
  }
  return [...alike.values()].flatMap(([first, ...others]) => {
    if (!first) return [];
    const lines = others.map(({ line }) => line).join(', ');
    const also = lines === '' ? '' : ` (also in line${others.length > 1 ? 's' : ''} ${lines})`;
    const message = `${first.message}${also}`.replace(/[.?]?$/, (end) => end || '.');
    return [{ ...first, message }];
  });
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
