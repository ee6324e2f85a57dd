// The report of `npm run diff`, as text and as JSON.
import { styleText } from 'node:util';
import { namesOf, summariesOf } from './announce.ts';
import { pointerOf, segments, step, type Change, type Json } from './change.ts';
import { describe } from './describe.ts';
import { fieldAt, type Field } from './fields.ts';
import { rate, type Rating } from './impact.ts';
import { count, type Problem } from './judge.ts';
import { placeOf, plural, sourceOf, summary, usersOf, usesOf } from './places.ts';

export interface Line {
  rating: Rating;
  /** An operation, a webhook, or a shared component. */
  place: string;
  usedBy: string[];
  what: string;
  /** What an addition is announced by in CHANGELOG.md. */
  names?: string[];
  summaries?: string[];
  why?: string;
  where: string;
  /** A new field: its type, whether it is required, and its description. */
  field?: Field;
  /** Breaking by the rules, but accepted.yaml says why nothing that worked is refused. */
  accepted?: { reason: string; test: string };
}

export interface Outcome {
  base: string;
  baseVersion: string;
  version: string;
  /** If the changes are listed against another contract than the released one. */
  releasedVersion?: string;
  changes: Line[];
  problems: Problem[];
}

export function linesOf(changes: Change[], base: Json, revision: Json, root: string): Line[] {
  const [before, after] = [usesOf(base), usesOf(revision)];
  return changes.map((change) => {
    const pointer = pointerOf(change);
    const names = namesOf(change);
    const summaries = summariesOf(change);
    const field = change.kind === 'added' ? fieldAt(revision, pointer) : undefined;
    return {
      ...rate(change),
      place: placeOf(pointer),
      ...(names.length > 0 ? { names } : {}),
      ...(summaries.length > 0 ? { summaries } : {}),
      ...(field ? { field } : {}),
      usedBy: usersOf(pointer, change.kind === 'removed' ? before : after),
      what: describe(change),
      where: sourceOf(placeWithin(change, pointer), root),
    };
  });
}

/** With the keyword that changed: a keyword that was removed has no place in the new contract, only its owner has. */
const placeWithin = ({ kind, property = '' }: Change, pointer: string) =>
  kind === 'modified' && !['', 'key', segments(pointer).at(-1)].includes(property)
    ? step(pointer, property)
    : pointer;

export const groups = [
  { kind: 'breaking', title: 'Breaking', mark: '✖', colour: 'red' },
  { kind: 'addition', title: 'Additions', mark: '+', colour: 'green' },
  { kind: 'accepted', title: 'Accepted', mark: '≈', colour: 'yellow' },
  { kind: 'other', title: 'Other', mark: '·', colour: 'gray' },
] as const;

const byReason = (one: Line, other: Line) =>
  (one.accepted?.reason ?? '').localeCompare(other.accepted?.reason ?? '');

export const kindOf = ({ rating, accepted }: Line) => (accepted ? 'accepted' : rating);

const counts = (changes: Line[]) => {
  const accepted = changes.filter((line) => line.accepted).length;
  return {
    breaking: count(changes, 'breaking'),
    additions: count(changes, 'addition'),
    accepted,
    other: count(changes, 'other') - accepted,
  };
};

/** Such as `1 breaking, 2 additions, 0 other`. */
export function totalOf(changes: Line[]): string {
  const { breaking, additions, accepted, other } = counts(changes);
  return [
    `${breaking} breaking`,
    plural(additions, 'addition'),
    ...(accepted > 0 ? [`${accepted} accepted`] : []),
    `${other} other`,
  ].join(', ');
}

export const asJson = (outcome: Outcome, released: boolean) =>
  JSON.stringify(
    { ok: outcome.problems.length === 0, released, counts: counts(outcome.changes), ...outcome },
    null,
    2,
  );

export interface Screen {
  colour: boolean;
  columns?: number | undefined;
}

export function asText(outcome: Outcome, { colour, columns = Infinity }: Screen): string {
  const { base, baseVersion, version, releasedVersion = baseVersion, changes, problems } = outcome;
  const paint = (style: Parameters<typeof styleText>[0], text: string) =>
    // Whether the screen has colours was asked before; newer versions of Node would ask again.
    colour ? styleText(style, text, { validateStream: false }) : text;
  if (changes.length === 0 && problems.length === 0) {
    const bump = version === baseVersion ? '' : `; info.version changes from ${baseVersion} to ${version}`;
    return `${paint('green', '✓')} No change of the contract since ${base}${bump}`;
  }
  const width = Math.min(52, Math.max(0, ...changes.map((line) => label(line).length)));
  const blocks = groups.flatMap(({ kind, title, mark, colour: style }) => {
    const lines = changes.filter((line) => kindOf(line) === kind).sort(byReason);
    if (lines.length === 0) return [];
    const rows = lines.map((line, index) => {
      const why = line.why === undefined ? '' : `: ${line.why}`;
      const place = label(line).padEnd(width);
      const fits = `  ${mark} ${place}  ${line.what}${why}  ${line.where}`.length <= columns;
      const where = `${fits ? '  ' : '\n      '}${paint('gray', line.where)}`;
      // Once for all changes of an entry.
      const isLast = lines[index + 1]?.accepted?.reason !== line.accepted?.reason;
      const accepted =
        line.accepted && isLast ? `\n      ${line.accepted.reason}\n      ${line.accepted.test}` : '';
      return `  ${paint(style, mark)} ${paint('bold', place)}  ${line.what}${why}${where}${accepted}`;
    });
    return [`${paint([style, 'bold'], title)} (${lines.length})\n${rows.join('\n')}`];
  });
  const verdicts = problems.map(({ message }) => `${paint('red', '✖')} ${message}`);
  const fine = `${paint('green', '✓')} ${version} and CHANGELOG.md announce what changed since ${releasedVersion}`;
  return [
    `Contract ${baseVersion} (${base}) → ${version} (openapi/)`,
    ...blocks,
    totalOf(changes),
    ...(verdicts.length > 0 ? verdicts : [fine]),
  ].join('\n\n');
}

const label = ({ place, usedBy }: Line) => (usedBy.length === 0 ? place : `${place} (${summary(usedBy)})`);
