// What a reviewer of a pull request reads: the changes in groups, who is affected by them, and what examples look like before
// and after. review-markdown.ts and review-html.ts write it down.
import { isDeepStrictEqual } from 'node:util';
import { methods } from './announce.ts';
import { isObject, type Json } from './change.ts';
import { descriptionOf, fieldsOf, type Field } from './fields.ts';
import { usesOf } from './places.ts';
import { groups, kindOf, totalOf, type Line, type Outcome } from './report.ts';

export interface Review extends Outcome {
  total: string;
  groups: { title: string; lines: Line[] }[];
  operations: NewOperation[];
  schemas: NewSchema[];
  /** Those with breaking changes first. */
  consumers: { place: string; breaking: number; additions: number; other: number }[];
  examples: ExampleChange[];
}

export interface NewOperation {
  /** Method and path. */
  place: string;
  summary: string;
  /** One of these scopes. */
  scopes: string[];
  /** `x-merchant-scope` in words. */
  accounts: string;
  /** Names of its parameters. */
  takes: string[];
  hasBody: boolean;
  statuses: string[];
  /** New components that only new operations use, such as `schema BuyerNote`. */
  parts: string[];
}

export interface NewSchema {
  name: string;
  description: string;
  /** Of an enumeration. */
  values: string[];
  fields: Field[];
}

export interface ExampleChange {
  name: string;
  kind: 'new' | 'changed' | 'removed';
  usedBy: string[];
  lines: DiffLine[];
}

export interface DiffLine {
  mark: ' ' | '+' | '-';
  text: string;
}

export function reviewOf(outcome: Outcome, base: Json, revision: Json): Review {
  const { changes } = outcome;
  const operations = newOperations(base, revision, changes);
  const isPart = ({ place }: Line) => operations.some(({ parts }) => parts.includes(place));
  const listed = changes.filter((line) => !isPart(line));
  const left = changes.length - listed.length;
  return {
    ...outcome,
    total: `${totalOf(listed)}${left === 0 ? '' : `, ${left} more with the new operations`}`,
    groups: groups.flatMap(({ kind, title }) => {
      const lines = listed.filter((line) => kindOf(line) === kind);
      return lines.length === 0 ? [] : [{ title, lines }];
    }),
    operations,
    schemas: newSchemas(base, revision),
    // Nobody uses a new operation yet.
    consumers: consumersOf(changes).filter(({ place }) => operations.every((one) => one.place !== place)),
    examples: examplesOf(base, revision),
  };
}

function newOperations(base: Json, revision: Json, changes: Line[]): NewOperation[] {
  const known = new Set(operationsOf(base).map(([place]) => place));
  const found = operationsOf(revision).filter(([place]) => !known.has(place));
  const isNew = (user: string) => found.some(([place]) => place === user);
  const parts = changes.filter(
    ({ rating, what, usedBy }) =>
      rating === 'other' && what.startsWith('new ') && usedBy.length > 0 && usedBy.every(isNew),
  );
  return found.map(([place, { summary, security, parameters, requestBody, responses, ...rest }]) => ({
    place,
    summary: String(summary),
    scopes: (Array.isArray(security) ? security : []).flatMap((one) =>
      Object.values(one as Json)
        .flat()
        .map(String),
    ),
    accounts: merchantScopes[String(rest['x-merchant-scope'])] ?? 'x-merchant-scope is missing',
    takes: (Array.isArray(parameters) ? parameters : []).map((one) => String(resolved(revision, one).name)),
    hasBody: requestBody !== undefined,
    statuses: keysOf(responses),
    parts: [...new Set(parts.filter(({ usedBy }) => usedBy.includes(place)).map((line) => line.place))],
  }));
}

const merchantScopes: Partial<Record<string, string>> = {
  none: 'no merchant account',
  one: 'one merchant account',
  many: 'one merchant account, or all',
};

const schemasOf = ({ components }: Json): Json => {
  const { schemas } = isObject(components) ? components : {};
  return isObject(schemas) ? schemas : {};
};

function newSchemas(base: Json, revision: Json): NewSchema[] {
  const known = schemasOf(base);
  return Object.entries(schemasOf(revision))
    .map(([name, schema]) => ({
      name,
      description: descriptionOf(revision, schema),
      values: isObject(schema) && Array.isArray(schema.enum) ? schema.enum.map(String) : [],
      fields: fieldsOf(revision, schema),
    }))
    .filter(({ name, values, fields }) => !(name in known) && values.length + fields.length > 0);
}

const keysOf = (value: unknown) => Object.keys(isObject(value) ? value : {});

const operationsOf = ({ paths }: Json): [place: string, operation: Json][] =>
  Object.entries(isObject(paths) ? paths : {}).flatMap(([path, item]) =>
    Object.entries(isObject(item) ? item : {}).flatMap(([method, operation]): [string, Json][] =>
      methods.has(method) && isObject(operation) ? [[`${method.toUpperCase()} ${path}`, operation]] : [],
    ),
  );

/** A parameter, which may be a component. */
function resolved({ components }: Json, value: unknown): Json {
  const parameter = isObject(value) ? value : {};
  const [, name] = /^#\/components\/parameters\/(.+)$/.exec(String(parameter.$ref)) ?? [];
  const { parameters } = isObject(components) ? components : {};
  const component = name !== undefined && isObject(parameters) ? parameters[name] : undefined;
  return isObject(component) ? component : parameter;
}

const isConsumed = (place: string) => /^[A-Z]+ \/|^webhook /.test(place);

function consumersOf(changes: Line[]): Review['consumers'] {
  const found = new Map<string, Review['consumers'][number]>();
  for (const { place, usedBy, rating } of changes)
    for (const user of new Set([...usedBy, ...(isConsumed(place) ? [place] : [])])) {
      const row = found.get(user) ?? { place: user, breaking: 0, additions: 0, other: 0 };
      row[rating === 'addition' ? 'additions' : rating] += 1;
      found.set(user, row);
    }
  return [...found.values()].sort(
    (one, other) =>
      other.breaking - one.breaking ||
      other.additions - one.additions ||
      one.place.localeCompare(other.place),
  );
}

/** All examples are components; the bundle has them with their parts filled in. */
function examplesOf(base: Json, revision: Json): ExampleChange[] {
  const [before, after] = [valuesOf(base), valuesOf(revision)];
  const [usedBefore, usedAfter] = [usesOf(base), usesOf(revision)];
  const names = [...new Set([...before.keys(), ...after.keys()])].sort();
  return names
    .filter((name) => !isDeepStrictEqual(before.get(name), after.get(name)))
    .map((name) => {
      const ref = `#/components/examples/${name}`;
      const kind = before.has(name) ? (after.has(name) ? 'changed' : 'removed') : 'new';
      return {
        name,
        kind,
        usedBy: [...((kind === 'removed' ? usedBefore : usedAfter).get(ref) ?? [])],
        lines: shortened(differingLines(textOf(before.get(name)), textOf(after.get(name)))),
      };
    });
}

function valuesOf(contract: Json): Map<string, unknown> {
  const { examples } = isObject(contract.components) ? contract.components : {};
  return new Map(
    Object.entries(isObject(examples) ? examples : {}).map(([name, example]) => [
      name,
      isObject(example) ? example.value : undefined,
    ]),
  );
}

const textOf = (value: unknown): string[] =>
  value === undefined ? [] : JSON.stringify(value, null, 2).split('\n');

const contextLines = 3;

/** Without what is far from any change. */
function shortened(lines: DiffLine[]): DiffLine[] {
  const isNear = lines.map((_, index) =>
    lines.slice(Math.max(0, index - contextLines), index + contextLines + 1).some(({ mark }) => mark !== ' '),
  );
  return lines.flatMap((line, index): DiffLine[] => {
    if (isNear[index]) return [line];
    return index === 0 || isNear[index - 1] ? [{ mark: ' ', text: '…' }] : [];
  });
}

/** The shortest way from one list of lines to the other: their longest common subsequence stays. */
export function differingLines(before: string[], after: string[]): DiffLine[] {
  // common[i][j]: how many lines the rests of both lists from i and j on have in common.
  const common = Array.from({ length: before.length + 1 }, () => new Uint32Array(after.length + 1));
  const at = (i: number, j: number) => common[i]?.[j] ?? 0;
  for (let i = before.length - 1; i >= 0; i--)
    for (let j = after.length - 1; j >= 0; j--) {
      const row = common[i];
      if (row) row[j] = before[i] === after[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < before.length || j < after.length) {
    if (i < before.length && j < after.length && before[i] === after[j]) {
      lines.push({ mark: ' ', text: before[i] ?? '' });
      i += 1;
      j += 1;
    } else if (i < before.length && (j === after.length || at(i + 1, j) >= at(i, j + 1))) {
      lines.push({ mark: '-', text: before[i] ?? '' });
      i += 1;
    } else {
      lines.push({ mark: '+', text: after[j] ?? '' });
      j += 1;
    }
  }
  return lines;
}
