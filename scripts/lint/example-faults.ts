// Of an example that does not match its schema, Redocly reports everything that each alternative of the schema refuses, in the
// words of Ajv. This keeps the fault that someone has to fix, in plain words.
import { nearest } from '../../server/rules/nearest.ts';
import type { Reported } from './problem.ts';

export const conform = 'Example value must conform to the schema: ';

const isAlternative = (fault: string) => /must match (a|exactly one) schema in (anyOf|oneOf)$/.test(fault);
const isNull = (fault: string) => /type must be null$/.test(fault);
const missingIn = (fault: string) => /must have required property '([^']+)'$/.exec(fault)?.[1];
export const extraIn = (fault: string) =>
  /must NOT have (?:additional|unevaluated) properties `([^`]+)`$/.exec(fault)?.[1];

/** The property that is missing, or too much. */
export const namedIn = (fault: string) =>
  /(?:required property '|properties `|no property `)([^'`]+)/.exec(fault)?.[1];

const faultOf = ({ message }: Reported) => message.slice(conform.length).replace(/\.$/, '');
const placeOf = ({ file, pointer }: Reported) => `${file}${pointer}`;
/** A property too much is reported at the property, one that is missing at the object. */
const objectOf = (problem: Reported) =>
  extraIn(faultOf(problem)) === undefined ? placeOf(problem) : placeOf(problem).replace(/\/[^/]*$/, '');

export function withoutNoise(problems: Reported[]): Reported[] {
  const [examples, others] = [
    problems.filter(isExampleFault),
    problems.filter((one) => !isExampleFault(one)),
  ];
  const byObject = new Map<string, Reported[]>();
  for (const problem of examples) {
    const place = objectOf(problem);
    byObject.set(place, [...(byObject.get(place) ?? []), problem]);
  }
  const places = [...byObject.keys()];
  const kept = [...byObject].flatMap(([place, faults]) => {
    const isDeeper = places.some((other) => other.startsWith(`${place}/`));
    return essential(misspelt(faults) ?? faults, isDeeper);
  });
  return [...others, ...kept];
}

const isExampleFault = ({ message }: Reported) => message.startsWith(conform);

/** A property that is missing and one that is too much, with nearly the same name, are one fault. */
function misspelt(faults: Reported[]): Reported[] | undefined {
  const missing = faults.flatMap((one) => missingIn(faultOf(one)) ?? []);
  for (const problem of faults) {
    const extra = extraIn(faultOf(problem));
    const meant = extra === undefined ? undefined : nearest(extra, missing, extra.length / 3);
    if (extra === undefined || meant === undefined) continue;
    const isOther = (one: Reported) =>
      extraIn(faultOf(one)) !== extra && missingIn(faultOf(one)) !== meant && !isAlternative(faultOf(one));
    const message = `${conform}it has no property \`${extra}\`. Did you mean \`${meant}\`?`;
    // What else is missing or too much may belong to another alternative.
    const isChoice = faults.some((one) => isAlternative(faultOf(one)));
    return [{ ...problem, message }, ...(isChoice ? [] : faults.filter(isOther))];
  }
  return undefined;
}

/** `isDeeper`: a fault is reported inside the value. Then that is why no alternative matches. */
function essential(faults: Reported[], isDeeper: boolean): Reported[] {
  const choice = faults.find((one) => isAlternative(faultOf(one)));
  const own = faults.filter((one) => !isAlternative(faultOf(one)));
  const named = own.filter((one) => !isNull(faultOf(one)));
  const lacks = [...new Set(named.flatMap((one) => missingIn(faultOf(one)) ?? []))];
  if (choice && faultOf(choice).endsWith('oneOf')) {
    const extras = [...new Set(named.flatMap((one) => extraIn(faultOf(one)) ?? []))];
    const list = (names: string[]) => names.map((name) => `\`${name}\``).join(', ');
    if (named.length === 0 && !isDeeper)
      return [{ ...choice, message: `${conform}it fits more than one of the alternatives (oneOf).` }];
    if (lacks.length > 1) {
      const tooMuch = extras.length > 0 ? ` Not allowed in one or another: ${list(extras)}.` : '';
      const message = `${conform}it fits none of the alternatives (oneOf). Missing for one or another: ${list(lacks)}.${tooMuch}`;
      return [{ ...choice, message }];
    }
  }
  // An object with a fault is of course not null either, where it might be; a value of the wrong type might be.
  const isObject = isDeeper || named.some((one) => !faultOf(one).includes(' type must be '));
  return isObject ? named : own.length > 0 ? own : faults;
}

/** A value that is not in the list, with the one that was meant. */
export function withMeant(fault: string, value: unknown): string {
  const [, subject = '', list = ''] =
    /^(.*)must be equal to one of the allowed values (.*)$/.exec(fault) ?? [];
  const meant = nearest(String(value), list.replaceAll('"', '').split(', '));
  return meant === undefined || meant === ''
    ? fault
    : `${subject.replace(' property', '')}has no value \`${String(value)}\`. Did you mean \`${meant}\`?`;
}

/** The faults of one value as one sentence. */
export function inPlainWords(faults: string[]): string {
  // Of `type: [string, 'null']` it says `string,null`.
  const types = faults.flatMap((fault) => /type must be ([\w,]+)$/.exec(fault)?.[1]?.split(',') ?? []);
  const rest = faults.filter((fault) => !/type must be [\w,]+$/.test(fault) && !isSaid(fault, faults));
  const [subject = 'it'] = faults.flatMap((fault) => /^(`.*`) property type must/.exec(fault)?.[1] ?? []);
  const sorted = [...new Set(types)].sort((a, b) => Number(a === 'null') - Number(b === 'null'));
  const typed = sorted.length > 0 ? [`${subject} must be ${sorted.map(withArticle).join(' or ')}`] : [];
  const sentence = [...new Set([...typed, ...rest.map(plain)])].join(', or ');
  return `This example does not match its schema: ${sentence.replace(/[.?]?$/, (end) => end || '.')}`;
}

/** Whether another message about the same property says more, such as which name was meant. */
const isSaid = (fault: string, faults: string[]) =>
  extraIn(fault) !== undefined &&
  faults.some(
    (other) => other !== fault && extraIn(other) === undefined && namedIn(other) === extraIn(fault),
  );

const withArticle = (type: string) =>
  type === 'null' ? type : `${/^[aeiou]/.test(type) ? 'an' : 'a'} ${type}`;

function plain(fault: string): string {
  const extra = extraIn(fault);
  if (extra !== undefined) return `it has no property \`${extra}\`. Add it to the schema, or remove it here`;
  return fault.replace(/^(`.*`) property /, '$1 ');
}
