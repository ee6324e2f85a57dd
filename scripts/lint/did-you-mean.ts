// What a name that is not known, or a $ref that leads nowhere, was probably meant to be.
import { dirname, posix } from 'node:path';
import { isMap } from 'yaml';
import { nearest } from '../../server/kit/rules/nearest.ts';
import { pascal } from '../new/names.ts';
import type { Reported } from './problem.ts';
import { positionOf, type Sources } from './sources.ts';

export function adviseOnName(problem: Reported): Reported {
  const { rule, message } = problem;
  const [, name = ''] = /[`"]([^`"]+)[`"]/.exec(message) ?? [];
  // Redocly does not list `$ref`, which may be almost anywhere.
  const suggest = name.startsWith('$') ? ['$ref', ...problem.suggest] : problem.suggest;
  // Of a wrong value, Redocly suggests what is near and does not name the value; for `null` it suggests everything.
  const value = rule === 'struct' && suggest.length < 5 ? suggest[0] : undefined;
  const meant = nearest(name, suggest) ?? value;
  if (meant !== undefined) return { ...problem, message: `${message} Did you mean \`${meant}\`?` };
  const advice = message.endsWith(' is not expected here.') ? ' Check its name and its indentation.' : '';
  return { ...problem, message: `${message}${advice}` };
}

/** The message of an unresolved reference with what to write instead; any other as it is. */
export function adviseOnReference(problem: Reported, sources: Sources): Reported {
  if (!/^Can't resolve \$ref/.test(problem.message)) return problem;
  const ref = refOf(problem, sources);
  if (ref === undefined) return problem;
  // Redocly points at the object, whose first line may be a description.
  const position = positionOf(sources, problem.file, [...steps(problem.pointer), '$ref']);
  return { ...problem, ...position, message: messageFor(ref, problem.file, sources) };
}

function refOf({ file, message, pointer }: Reported, sources: Sources): string | undefined {
  const [, named] = /^Can't resolve \$ref (\S+):/.exec(message) ?? [];
  if (named !== undefined) return named;
  const path = steps(pointer);
  const { document } = sources.get(file) ?? {};
  const value = [document?.getIn([...path, '$ref']), document?.getIn(path)];
  return value.find((found) => typeof found === 'string');
}

export const steps = (pointer: string) =>
  pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));

export function messageFor(ref: string, file: string, sources: Sources): string {
  const [path = '', pointer = ''] = ref.split('#');
  const [, own] = /^\/(components\/\w+\/\w+)$/.exec(pointer) ?? [];
  if (path === '' && own !== undefined && sources.has(`openapi/${own}.yaml`))
    return `Can't resolve $ref ${ref}: every component is a file. Write ${relativeTo(file, `openapi/${own}.yaml`)}`;
  const target = path === '' ? file : posix.join(dirname(file), path);
  const source = sources.get(target);
  if (!source) {
    const near = nearestFile(target, [...sources.keys()]);
    const suffix = pointer === '' ? '' : `#${pointer}`;
    const hint = near === undefined ? namesOnly : adviceOnFile(near, file, suffix);
    return `Can't resolve $ref ${ref}: there is no such file. ${hint}`;
  }
  const path_ = steps(pointer);
  const depth = path_.findIndex((_, index) => !source.document.hasIn(path_.slice(0, index + 1)));
  const parent = source.document.getIn(path_.slice(0, depth), true) ?? source.document.contents;
  const keys = isMap(parent) ? parent.items.map(({ key }) => String(key)) : [];
  const near = nearest(path_[depth] ?? '', keys);
  const named = `"${path_[depth]}" in ${relativeTo(file, target)}`;
  const hint = near === undefined ? `It has: ${keys.join(', ')}.` : `Did you mean ${near}?`;
  return `Can't resolve $ref ${ref}: there is no ${named}. ${hint}`;
}

function adviceOnFile(near: string, file: string, suffix: string): string {
  const name = posix.basename(near, '.yaml');
  // Other rules would refuse a reference to a file with such a name.
  if (near.startsWith('openapi/components/') && !/^[A-Z][A-Za-z0-9]*$/.test(name))
    return `Rename ${relativeTo(file, near)} to ${pascal(name)}.yaml.`;
  return `Did you mean ${relativeTo(file, near)}${suffix}?`;
}

export const namesOnly = 'Name a file that exists, relative to this one.';

function relativeTo(file: string, target: string): string {
  const path = posix.relative(dirname(file), target);
  return path.startsWith('.') ? path : `./${path}`;
}

/** With the extension that was forgotten, in the folder that was named, or with the same name in another folder. */
function nearestFile(target: string, files: string[]): string | undefined {
  if (files.includes(`${target}.yaml`)) return `${target}.yaml`;
  const beside = files.filter((file) => dirname(file) === dirname(target));
  const name = nearest(
    posix.basename(target),
    beside.map((file) => posix.basename(file)),
  );
  if (name !== undefined) return posix.join(dirname(target), name);
  return files.find((file) => posix.basename(file) === posix.basename(target));
}
