// Examples are made from each other by $ref, so one fault shows in a dozen of them. This leads to the examples that have the
// fault themselves, and says each fault once.
import { dirname, posix } from 'node:path';
import { isMap } from 'yaml';
import { steps } from './did-you-mean.ts';
import { conform, extraIn, inPlainWords, namedIn, withMeant, withoutNoise } from './example-faults.ts';
import type { Problem, Reported } from './problem.ts';
import { positionOf, type Sources } from './sources.ts';

interface Place {
  file: string;
  path: string[];
}

interface Group {
  missing: string[];
  messages: Set<string>;
  /** Where the value is written, as `file:line:column`. */
  bases: Set<string>;
  seen: Reported[];
}

/** `wrongNames`: what a schema requires by mistake, so that no example has to be fixed. */
export function groupExampleFaults(
  problems: Reported[],
  sources: Sources,
  wrongNames: ReadonlySet<string>,
): Problem[] {
  const groups = new Map<string, Group>();
  const others: Problem[] = [];
  for (const problem of withoutNoise(problems)) {
    if (!problem.message.startsWith(conform)) {
      others.push(problem);
      continue;
    }
    const missing = /must have required property '([^']+)'/.exec(problem.message)?.[1];
    if (wrongNames.has(namedIn(problem.message) ?? '')) continue;
    const place = baseOf({ file: problem.file, path: steps(problem.pointer) }, missing, sources);
    const where = placeOf(place, sources) ?? `${problem.file}:${problem.line}:${problem.column}`;
    // A field that many examples lack was made required by one edit.
    const key = missing === undefined ? where : `lacks ${missing}`;
    const group = groups.get(key) ?? {
      missing: missing === undefined ? [] : [missing],
      messages: new Set(),
      bases: new Set(),
      seen: [],
    };
    const value = sources.get(place.file)?.document.getIn(place.path);
    group.messages.add(withMeant(problem.message.slice(conform.length).replace(/\.$/, ''), value));
    group.bases.add(where);
    group.seen.push(problem);
    groups.set(key, group);
  }
  return [...others, ...together([...groups.values()]).map(problemOf)];
}

/** What the same examples lack is one fault, and so is a property that was removed from their schema. */
function together(groups: Group[]): Group[] {
  const merged = new Map<string, Group>();
  for (const group of groups) {
    const places = [...group.bases].sort().join(' ');
    const [extra, ...more] = new Set([...group.messages].map(extraIn));
    const key =
      group.missing.length > 0
        ? `lack ${places}`
        : extra === undefined || more.length > 0
          ? places
          : `have ${extra}`;
    const { missing = [], seen = [], bases = [] } = merged.get(key) ?? {};
    merged.set(key, {
      messages: group.messages,
      missing: [...missing, ...group.missing],
      bases: new Set([...bases, ...group.bases]),
      seen: [...seen, ...group.seen],
    });
  }
  return [...merged.values()];
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

function placeOf({ file, path }: Place, sources: Sources): string | undefined {
  const position = positionOf(sources, file, path);
  return position && `${file}:${position.line}:${position.column}`;
}

function problemOf({ missing, messages, bases, seen }: Group): Problem {
  const [first = '', ...more] = [...bases];
  const [file = '', line, column] = first.split(':');
  // One place of each other file.
  const named = new Set([...bases].map((base) => base.replace(/:.*/, '')));
  const shown = new Map(seen.map((one) => [one.file, `${one.file}:${one.line}`]));
  const also = [...shown].flatMap(([name, at]) => (named.has(name) ? [] : [at]));
  const places = more.map((base) => `\n  ${base.replace(/:\d+$/, '')}`).join('');
  const text =
    missing.length === 0
      ? inPlainWords([...messages])
      : `The schema requires ${missing.map((name) => `'${name}'`).join(', ')}, which this example lacks. Add ${missing.length === 1 ? 'it' : 'them'} here.`;
  const place = { rule: seen[0]?.rule ?? '', file, line: Number(line), column: Number(column) };
  const message = places === '' ? text : text.replace(/\.$/, `, and in:${places}`);
  return { ...place, message, ...(also.length > 0 ? { also } : {}) };
}
