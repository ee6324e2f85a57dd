// Of an operationId that two operations have, Redocly reports only that it is not unique, after all that follows from the
// wrong name. This names the other place, says so first, and holds back what follows.
import { dirname, posix } from 'node:path';
import { isMap } from 'yaml';
import type { Reported } from './problem.ts';
import { positionOf, type Sources } from './sources.ts';

interface Operation {
  id: string;
  /** For people, such as `GET /transactions`. */
  name: string;
  file: string;
  path: string[];
}

const contract = 'openapi/openapi.yaml';

/** These judge an operation by its name. */
const judgeByName = ['house/operation-id', 'house/list-shape'];

export function explainDuplicateIds(problems: Reported[], sources: Sources): Reported[] {
  const isDuplicate = ({ rule }: Reported) => rule === 'operation-operationId-unique';
  if (!problems.some(isDuplicate)) return problems;
  const operations = operationsOf(sources);
  const concerns = (problem: Reported, { file, path }: Operation) =>
    problem.file === file && `${problem.pointer}/`.startsWith(`${pointerOf(path)}/`);
  const found = [...new Set(operations.map(({ id }) => id))].flatMap((id) => {
    const same = operations.filter((operation) => operation.id === id);
    const isMisnamed = (one: Operation) =>
      problems.some((problem) => problem.rule === 'house/operation-id' && concerns(problem, one));
    // The name belongs to the one that it fits; otherwise to the first.
    const owner = same.find((one) => !isMisnamed(one)) ?? same[0];
    return same.flatMap((one) => (owner && one !== owner ? [{ one, owner }] : []));
  });
  // For example, two paths that refer to the same file.
  if (found.length === 0) return problems;
  const isConsequence = (problem: Reported) =>
    judgeByName.includes(problem.rule) && found.some(({ one }) => concerns(problem, one));
  const others = problems.filter((problem) => !isDuplicate(problem) && !isConsequence(problem));
  return [...found.map(({ one, owner }) => problemOf(one, owner, sources)), ...others];
}

function problemOf({ id, file, path }: Operation, owner: Operation, sources: Sources): Reported {
  const at = [...path, 'operationId'];
  const place = `${owner.file}:${positionOf(sources, owner.file, [...owner.path, 'operationId'])?.line}`;
  return {
    rule: 'operation-operationId-unique',
    file,
    ...(positionOf(sources, file, at) ?? { line: 1, column: 1 }),
    pointer: pointerOf(at),
    suggest: [],
    message: `\`${id}\` is already the operationId of ${owner.name} (${place}). Give this one a name of its own.`,
  };
}

export const pointerOf = (path: string[]) =>
  `#${path.map((part) => `/${part.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')}`;

function operationsOf(sources: Sources): Operation[] {
  return ['paths', 'webhooks'].flatMap((section) => {
    const items = sources.get(contract)?.document.get(section);
    if (!isMap(items)) return [];
    return items.items.flatMap(({ key, value }) => {
      const name = String(key);
      const ref = isMap(value) ? value.get('$ref') : undefined;
      const [file, base] =
        typeof ref === 'string' ? [posix.join(dirname(contract), ref), []] : [contract, [section, name]];
      const item = sources.get(file)?.document.getIn(base, true) ?? sources.get(file)?.document.contents;
      if (!isMap(item)) return [];
      return item.items.flatMap(({ key: method, value: operation }) => {
        const id = isMap(operation) ? operation.get('operationId') : undefined;
        if (typeof id !== 'string') return [];
        const verb = String(method);
        return [{ id, name: `${verb.toUpperCase()} ${name}`, file, path: [...base, verb] }];
      });
    });
  });
}
