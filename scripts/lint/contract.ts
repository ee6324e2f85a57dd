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
import { deadLinks } from './links.ts';
import type { Problem, Reported } from './problem.ts';
import { withRemedy } from './remedies.ts';
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
  return { problems: explain(asReported(found, project), sources, project), unfinished: marked(sources) };
}

const basicRules = ['struct', 'house/valid-schema', 'house/plain-examples'];

/** What Redocly reports, with what was meant, and each fault of an example once. */
export function explain(reported: Reported[], sources: Sources, project: string): Problem[] {
  const advised = reported.map((problem) =>
    adviseOnReference(adviseOnName(withRemedy(problem, sources)), sources),
  );
  const isBasic = ({ rule }: Reported) => basicRules.includes(rule);
  // Other rules cannot validate what is not OpenAPI.
  const shown = advised.some(isBasic)
    ? advised.filter((one) => isBasic(one) || isDangling(one))
    : withoutConsequences(advised);
  return [...textsCutOff(sources), ...deadLinks(sources, project), ...groupExampleFaults(shown, sources)];
}

const isDangling = ({ rule }: Reported) => rule === 'no-unresolved-refs';

/** These look for something that a reference leads to, such as the parameter `limit` of a list. */
const lookedFor = [
  ...['house/list-shape', 'house/idempotency-key', 'house/paired-examples', 'house/resource-type'],
  'path-parameters-defined',
];

/** Without what is only missing because a reference leads nowhere: in the same operation, or the same part of a component. */
function withoutConsequences(problems: Reported[]): Reported[] {
  const dangling = problems.filter(isDangling);
  const part = ({ file, pointer }: Reported) => `${file}#${pointer.split('/')[1]}`;
  const follows = (problem: Reported) =>
    problem.message.startsWith('Example validation errored: ') ||
    // An alternative may be what leads nowhere.
    /must match .*schema in (oneOf|anyOf)/.test(problem.message) ||
    dangling.some(
      (one) =>
        (lookedFor.includes(problem.rule) && part(problem) === part(one)) ||
        (problem.rule === 'security-defined' && one.pointer.includes('/securitySchemes/')),
    );
  return dangling.length === 0 ? problems : problems.filter((problem) => !follows(problem));
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
