// Lints a contract: YAML's syntax, then Redocly with the house rules. Each fault is said once, where it is to be mended.
import { posix } from 'node:path';
import { isMap } from 'yaml';
import { redocly } from '../support/redocly.ts';
import { groupExampleFaults } from './base-examples.ts';
import { adviseOnReference } from './did-you-mean.ts';
import { explainDuplicateIds, pointerOf } from './duplicate-ids.ts';
import { metaSchemaFaults, notIn } from './meta-schema.ts';
import { adviseOnNames, namesWithoutProperty } from './misspelt.ts';
import { conform } from './example-faults.ts';
import type { Problem, Reported } from './problem.ts';
import { positionOf, readSources, type Sources } from './sources.ts';
import { textsCutOff, yamlFaults } from './yaml-faults.ts';

/** `failure`: Redocly could not lint, for example because of its own configuration. */
export interface Linted {
  problems: Problem[];
  /** Texts of `npm run new` that their author has not looked at. They are no faults until the contract is released. */
  unfinished: Problem[];
  failure?: string;
}

export async function lintContract(project: string, api?: string): Promise<Linted> {
  const sources = readSources(project);
  const faults = yamlFaults(sources);
  if (faults.length > 0) return { problems: faults, unfinished: [] };
  const args = ['lint', ...(api === undefined ? [] : [api]), '--format=json', '--max-problems=1000'];
  const running = redocly(args, { cwd: project });
  // While Redocly runs.
  const invalid = metaSchemaFaults(sources);
  const { status, stdout, stderr } = await running;
  const reported = parseReport(stdout);
  const unfinished = marked(sources);
  if (!reported) return { problems: [], unfinished, failure: `${stdout}\n${stderr}`.trim() };
  const advised = [...reported, ...invalid.filter(notIn(reported))].map((problem) =>
    adviseOnNull(adviseOnMapping(adviseOnReference(atPathName(problem, sources), sources))),
  );
  const causes = explainDuplicateIds(withoutConsequences(once(advised)), sources);
  const problems = [
    ...textsCutOff(sources),
    ...groupExampleFaults(adviseOnNames(causes), sources, namesWithoutProperty(causes)),
  ];
  const failed = status !== 0 && problems.length === 0;
  return { problems, unfinished, ...(failed ? { failure: stderr.trim() } : {}) };
}

/** By a comment, which `npm run new` writes. */
const marked = (sources: Sources): Problem[] =>
  [...sources].flatMap(([file, { text }]) =>
    text.split('\n').flatMap((content, index) => {
      const at = content.search(/# TODO\b/);
      const message = 'Write this for your readers, then remove the comment.';
      return at === -1 ? [] : [{ rule: 'todo', file, line: index + 1, column: at + 1, message }];
    }),
  );

interface Report {
  problems: {
    ruleId: string;
    message: string;
    suggest?: string[];
    location: { source: { ref: string }; pointer?: string; start?: { line: number; col: number } }[];
  }[];
}

function parseReport(stdout: string): Reported[] | undefined {
  if (!stdout.startsWith('{')) return undefined;
  const { problems } = JSON.parse(stdout) as Report;
  return problems.map(({ ruleId, message, suggest = [], location: [place] }) => ({
    rule: ruleId,
    file: place?.source.ref ?? '',
    line: place?.start?.line ?? 1,
    column: place?.start?.col ?? 1,
    pointer: place?.pointer ?? '',
    message,
    suggest,
  }));
}

const once = (problems: Reported[]) => [
  ...new Map(problems.map((one) => [`${one.file}:${one.line}:${one.column} ${one.message}`, one])).values(),
];

/** An example cannot be checked against a schema that is broken itself. */
function withoutConsequences(problems: Reported[]): Reported[] {
  const causes = problems.filter(({ message }) => !message.startsWith('Example validation errored'));
  const found = causes.length > 0 ? causes : problems;
  return found.filter((problem) => !found.some((cause) => follows(problem, cause)));
}

const pathRules = ['paths-kebab-case', 'path-segment-plural'];
const isWithin = (pointer: string, other: string) => pointer.startsWith(`${other}/`);

/** A fault in the place itself, such as a misspelt keyword, or in the object that has it. */
const isAt = (pointer: string, fault: string) =>
  [fault, fault.replace(/\/[^/]*$/, '')].includes(pointer.replace(/\/$/, ''));

/**
 * Whether one problem follows from another, and goes away with it:
 * - what a broken reference should have led to is missing for other rules;
 * - the file of a path is named after the path, so a wrong name is reported for both;
 * - house rules cannot judge what is not valid OpenAPI;
 * - an example with a wrong code leaves the right code without an example.
 */
const follows = ({ rule, file, pointer }: Reported, cause: Reported): boolean =>
  (rule === 'house/error-code' && cause.message.startsWith(`${conform}\`code\` property must be equal`)) ||
  (rule.startsWith('house/') &&
    file === cause.file &&
    ((cause.rule === 'struct' && isAt(pointer, cause.pointer)) ||
      (cause.rule === 'no-unresolved-refs' && isWithin(cause.pointer, pointer)) ||
      (pathRules.includes(cause.rule) && isWithin(pointer, cause.pointer))));

/** `type string` without the colon is valid YAML: a text where an object was meant. */
const adviseOnMapping = (problem: Reported): Reported =>
  /^Expected type `\w+` \(object\) but got `string`/.test(problem.message)
    ? { ...problem, message: `${problem.message} Is a colon missing, as in \`type: string\`?` }
    : problem;

/** A keyword of OpenAPI 3.0. */
const adviseOnNull = (problem: Reported): Reported =>
  problem.message.startsWith('Property `nullable` is not expected')
    ? {
        ...problem,
        message: "OpenAPI 3.1 has no `nullable`. Write `type: [string, 'null']`, with its own type.",
      }
    : problem;

/** Redocly points at the file of a path, but its name is in the root file. */
function atPathName(problem: Reported, sources: Sources): Reported {
  if (!pathRules.includes(problem.rule)) return problem;
  const file = 'openapi/openapi.yaml';
  const paths = sources.get(file)?.document.get('paths');
  const item = (isMap(paths) ? paths.items : []).find(
    ({ value }) => isMap(value) && posix.join('openapi', String(value.get('$ref'))) === problem.file,
  );
  if (!item) return problem;
  const path = ['paths', String(item.key)];
  return { ...problem, file, pointer: pointerOf(path), ...positionOf(sources, file, path) };
}
