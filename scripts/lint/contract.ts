// Lints a contract: YAML's syntax, then Redocly with the house rules. Each fault is said once, where it is to be fixed.
import { join } from 'node:path';
import {
  getLineColLocation,
  lint,
  lintConfig,
  loadConfig,
  type NormalizedProblem,
} from '@redocly/openapi-core';
import { nameIn } from '../support/files.ts';
import { adviseOnName, adviseOnReference } from './did-you-mean.ts';
import { groupExampleFaults } from './example-faults.ts';
import type { Problem, Reported } from './problem.ts';
import { readSource, readSources, type Sources } from './sources.ts';
import { textsCutOff, yamlFaults } from './yaml-faults.ts';

export interface Linted {
  problems: Problem[];
  /** Texts of `npm run new` that their author has not looked at. They are no faults until the contract is released. */
  unfinished: Problem[];
}

export async function lintContract(project: string): Promise<Linted> {
  const sources = readSources(project);
  const settings = join(project, 'redocly.yaml');
  const faults = yamlFaults(new Map([...sources, ['redocly.yaml', readSource(settings)]]));
  if (faults.length > 0) return { problems: faults, unfinished: [] };
  const config = await loadConfig({ configPath: settings });
  const found = [
    ...(await lintConfig({ config, severity: 'error' })),
    ...(await lint({ ref: join(project, 'openapi/openapi.yaml'), config })),
  ];
  return { problems: explain(asReported(found, project), sources), unfinished: marked(sources) };
}

const basicRules = ['struct', 'house/valid-schema', 'no-unresolved-refs', 'house/example-refs'];

/** What Redocly reports, with what was meant, and each fault of an example once. */
export function explain(reported: Reported[], sources: Sources): Problem[] {
  const advised = reported.map((problem) => adviseOnReference(adviseOnName(problem), sources));
  // Other rules cannot judge what is not OpenAPI, nor what is not there.
  const first = advised.filter(({ rule }) => basicRules.includes(rule));
  return [...textsCutOff(sources), ...groupExampleFaults(first.length > 0 ? first : advised, sources)];
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

/** Each once: many operations share a faulty component. */
export function asReported(problems: NormalizedProblem[], project: string): Reported[] {
  const reported = problems.map(({ ruleId, message, suggest, location }): Reported => {
    const [place] = location.map((one) => {
      const { line, col } = getLineColLocation(one).start;
      // That of a whole file is '#/'.
      const pointer = one.pointer?.replace(/\/$/, '') ?? '';
      return { file: nameIn(project, one.source.absoluteRef), line, column: col, pointer };
    });
    return { ...(place ?? { file: '', line: 1, column: 1, pointer: '' }), rule: ruleId, message, suggest };
  });
  const faults = reported.map(
    (one) => [`${one.file}:${one.line}:${one.column} ${one.message}`, one] as const,
  );
  return [...new Map(faults).values()];
}
