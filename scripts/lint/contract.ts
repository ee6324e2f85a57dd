// Lints a contract: YAML's syntax, then Redocly with the house rules. Each fault is said once, where it is to be fixed.
import { redocly } from '../support/redocly.ts';
import { advise } from './advice.ts';
import { groupExampleFaults } from './base-examples.ts';
import { withoutConsequences } from './consequences.ts';
import { adviseOnReference } from './did-you-mean.ts';
import { adviseOnNames, namesWithoutProperty } from './misspelt.ts';
import { explainOutdented } from './outdented.ts';
import { atPathName, explainPathParameters } from './path-names.ts';
import type { Problem, Reported } from './problem.ts';
import { readSources, type Sources } from './sources.ts';
import { textsCutOff, yamlFaults } from './yaml-faults.ts';

/** `failure`: Redocly could not lint, for example because of its own configuration. */
export interface Linted {
  problems: Problem[];
  /** Texts of `npm run new` that their author has not looked at. They are no faults until the contract is released. */
  unfinished: Problem[];
  failure?: string;
}

export async function lintContract(project: string): Promise<Linted> {
  const sources = readSources(project);
  const faults = yamlFaults(sources);
  if (faults.length > 0) return { problems: faults, unfinished: [] };
  const args = ['lint', '--format=json', '--max-problems=1000'];
  const { status, stdout, stderr } = await redocly(args, { cwd: project });
  const reported = parseReport(stdout);
  const unfinished = marked(sources);
  if (!reported) return { problems: [], unfinished, failure: `${stdout}\n${stderr}`.trim() };
  const problems = explain(reported, sources);
  const failed = status !== 0 && problems.length === 0;
  return { problems, unfinished, ...(failed ? { failure: stderr.trim() } : {}) };
}

/** What Redocly reports, without what follows from another fault, and with what to write instead. */
export function explain(reported: Reported[], sources: Sources): Problem[] {
  const placed = reported.map((problem) => adviseOnReference(atPathName(problem, sources), sources));
  const steps = [explainOutdented, explainPathParameters, withoutConsequences];
  const causes = steps.reduce((problems, step) => step(problems, sources), once(placed));
  const advised = adviseOnNames(causes).map((problem) => advise(problem, sources));
  return [...textsCutOff(sources), ...groupExampleFaults(advised, sources, namesWithoutProperty(causes))];
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

/** As Redocly writes it as JSON. */
interface Report {
  ruleId: string;
  message: string;
  suggest?: string[];
  location: { source: { ref: string }; pointer?: string; start?: { line: number; col: number } }[];
}

function parseReport(stdout: string): Reported[] | undefined {
  if (!stdout.startsWith('{')) return undefined;
  return asReported((JSON.parse(stdout) as { problems: Report[] }).problems);
}

export const asReported = (problems: Report[]): Reported[] =>
  problems.map(({ ruleId, message, suggest = [], location: [place, other] }) => ({
    rule: ruleId,
    file: place?.source.ref ?? '',
    line: place?.start?.line ?? 1,
    column: place?.start?.col ?? 1,
    // That of a whole file is '#/'.
    pointer: place?.pointer?.replace(/\/$/, '') ?? '',
    message: other ? `${message} The other is at ${other.source.ref}:${other.start?.line}.` : message,
    suggest,
  }));

const once = (problems: Reported[]) => [
  ...new Map(problems.map((one) => [`${one.file}:${one.line}:${one.column} ${one.message}`, one])).values(),
];
