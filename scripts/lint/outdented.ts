// Properties that stand beside `properties:` instead of below it. Redocly says of each that it is not expected, or not an object.
import { isMap, isSeq, type YAMLMap } from 'yaml';
import { parentOf } from './consequences.ts';
import { steps } from './did-you-mean.ts';
import type { Reported } from './problem.ts';
import { positionOf, type Sources } from './sources.ts';

/** Says it once for all properties of an object. */
export function explainOutdented(problems: Reported[], sources: Sources): Reported[] {
  const objects = new Map<string, Reported[]>();
  for (const problem of problems.filter((one) => isOutdented(one, sources))) {
    const key = `${problem.file}${parentOf(problem.pointer)}`;
    objects.set(key, [...(objects.get(key) ?? []), problem]);
  }
  const isExplained = ({ rule, file, pointer }: Reported) =>
    rule === 'struct' && objects.has(`${file}${parentOf(pointer)}`);
  return [
    ...problems.filter((problem) => !isExplained(problem)),
    ...[...objects.values()].flatMap((found) => {
      const [first, ...more] = found.sort((a, b) => a.line - b.line);
      if (!first) return [];
      const names = found.map(({ pointer }) => `\`${steps(pointer).at(-1)}\``).join(', ');
      const message = `${names} ${more.length === 0 ? 'is a property' : 'are properties'} of this object. Indent ${more.length === 0 ? 'it' : 'them'} below \`properties:\`.`;
      return [{ ...first, ...positionOf(sources, first.file, steps(first.pointer)), message }];
    }),
  ];
}

const misplaced = /^Property `[^`]+` is not expected here|^Expected type `string` but got `object`/;

function isOutdented({ rule, file, pointer, message }: Reported, sources: Sources): boolean {
  if (rule !== 'struct' || !misplaced.test(message)) return false;
  const { document } = sources.get(file) ?? {};
  const path = steps(pointer);
  const object = document?.getIn(path.slice(0, -1), true) ?? document?.contents;
  return isMap(object) && object.has('properties') && isProperty(object, path.at(-1) ?? '');
}

function isProperty(object: YAMLMap, name: string): boolean {
  const [value, required] = [object.get(name), object.get('required')];
  const isRequired = isSeq(required) && required.items.some((item) => String(item) === name);
  const isSchema =
    isMap(value) && ['type', '$ref', 'anyOf', 'oneOf', 'description'].some((key) => value.has(key));
  return isRequired || isSchema;
}
