// Names of paths are written in the root file, but Redocly points at the files of the paths and of their parameters.
import { posix } from 'node:path';
import { isMap } from 'yaml';
import { pathRules } from './consequences.ts';
import type { Reported } from './problem.ts';
import { positionOf, type Sources } from './sources.ts';

const file = 'openapi/openapi.yaml';

const pointerOf = (path: string) => `#/paths/${path.replaceAll('~', '~0').replaceAll('/', '~1')}`;

/** Points at the name in the root file. */
export function atPathName(problem: Reported, sources: Sources): Reported {
  if (!pathRules.includes(problem.rule)) return problem;
  const paths = sources.get(file)?.document.get('paths');
  const item = (isMap(paths) ? paths.items : []).find(
    ({ value }) => isMap(value) && posix.join('openapi', String(value.get('$ref'))) === problem.file,
  );
  return item ? { ...problem, ...placeOf(String(item.key), sources) } : problem;
}

function placeOf(path: string, sources: Sources) {
  const at = ['paths', path];
  return { file, pointer: pointerOf(path), ...(positionOf(sources, file, at) ?? { line: 1, column: 1 }) };
}

const lacking = /^The operation does not define the path parameter `\{(.+)\}` expected by path `(.+)`/;
const unused = /^Path parameter `(.+)` is not used in the path `(.+)`/;

/** A parameter that a path lacks and another that it does not use are one fault: a name in the path is misspelt. */
export function explainPathParameters(problems: Reported[], sources: Sources): Reported[] {
  const matches = (pattern: RegExp) =>
    problems.flatMap(({ message }) => {
      const [, name = '', path = ''] = pattern.exec(message) ?? [];
      return path === '' ? [] : [{ name, path }];
    });
  const meant = new Map(matches(unused).map(({ name, path }) => [path, name]));
  const found = new Map(
    matches(lacking).flatMap(({ name, path }) =>
      meant.has(path) ? [[path, { name, meant: meant.get(path) }] as const] : [],
    ),
  );
  const isExplained = ({ message, pointer }: Reported) =>
    [lacking, unused].some((pattern) => found.has(pattern.exec(message)?.[2] ?? '')) ||
    [...found.keys()].some((path) => pointer.startsWith(`${pointerOf(path)}/`));
  return [
    ...problems.filter((problem) => !isExplained(problem)),
    ...[...found].map(([path, names]) => ({
      ...{ rule: 'path-parameters-defined', ...placeOf(path, sources), suggest: [] },
      message: `The operations of this path have no parameter \`${names.name}\`. Did you mean \`{${names.meant}}\`?`,
    })),
  ];
}
