// What to write instead, where Redocly says only what it expected.
import { isMap, isSeq } from 'yaml';
import { nearest } from '../../server/rules/nearest.ts';
import { steps } from './did-you-mean.ts';
import type { Reported } from './problem.ts';
import type { Sources } from './sources.ts';

interface Given {
  /** What stands at the place of the problem, and its name. */
  value: unknown;
  name: string;
  /** The name of the object that has it. */
  owner: string;
  sources: Sources;
}

/** By the beginning of Redocly's message. The first that returns a text counts. */
const advices: [pattern: RegExp, advice: (match: RegExpExecArray, given: Given) => string | undefined][] = [
  // `type string` without the colon is valid YAML: a text where an object was meant.
  [
    /^Expected type `\w+` \(object\) but got `string`.*/,
    ([message]) => `${message} Is a colon missing, as in \`type: string\`?`,
  ],
  [
    /^Expected type `array` but got `boolean`/,
    (_, { name, owner }) =>
      name === 'required'
        ? `Remove this line, and list \`${owner}\` in the \`required\` of the object that has it.`
        : undefined,
  ],
  [
    /^Expected type (?:`array`|`\w+` \(array\)) but got `(?:string|object)`.*/,
    ([message]) => `${message} Begin each item of the list with a dash.`,
  ],
  [
    /^Expected type `number` but got `boolean`/,
    (_, { name }) =>
      name.startsWith('exclusive')
        ? `In OpenAPI 3.1, \`${name}\` is the limit itself: write \`${name}: 0\` instead of \`${name.slice(9).toLowerCase()}: 0\` and this line.`
        : undefined,
  ],
  [
    /^Property `nullable` is not/,
    () => "OpenAPI 3.1 has no `nullable`. Write `type: [string, 'null']`, with its own type.",
  ],
  [
    /^Property `(\w+)` is not expected/,
    ([, name = ''], { owner }) =>
      owner === 'responses' && /^\d/.test(name)
        ? `\`${name}\` is no status. Write its three digits in quotes, such as '409'.`
        : undefined,
  ],
  [
    /^`\w+` can be one of the following only: (.*)\.$/,
    ([, list = ''], { value, name }) =>
      value === null
        ? "Put it in quotes: 'null'."
        : didYouMean(`\`${name}\` cannot be`, value, list.replaceAll('"', '').split(', ')),
  ],
  [
    /^Operation tags should be defined/,
    (_, { value, sources }) => {
      const tags = sources.get('openapi/openapi.yaml')?.document.get('tags');
      const names = isSeq(tags) ? tags.items.map((tag) => (isMap(tag) ? String(tag.get('name')) : '')) : [];
      return `${didYouMean('There is no tag', value, names) ?? `There is no tag \`${String(value)}\`.`} Otherwise add it to \`tags\` in openapi.yaml.`;
    },
  ],
];

/** A name that is near, or that was shortened: `int`. */
function didYouMean(what: string, value: unknown, names: string[]): string | undefined {
  const given = String(value);
  const meant = nearest(given, names) ?? names.find((name) => given.length > 2 && name.startsWith(given));
  return meant === undefined ? undefined : `${what} \`${String(value)}\`. Did you mean \`${meant}\`?`;
}

export function advise(problem: Reported, sources: Sources): Reported {
  const path = steps(problem.pointer);
  const given: Given = {
    value: sources.get(problem.file)?.document.getIn(path),
    name: path.at(-1) ?? '',
    owner: path.at(-2) ?? '',
    sources,
  };
  for (const [pattern, advice] of advices) {
    const match = pattern.exec(problem.message);
    const message = match && advice(match, given);
    if (message) return { ...problem, message };
  }
  return problem;
}
