// The report of `npm run diff`, as text and as JSON.
import { styleText } from 'node:util';
import { namesOf } from './announce.ts';
import { atKeyword, component, gained, lost, pointerOf, step, type Change, type Json } from './change.ts';
import { describe } from './describe.ts';
import { rate, type Rating } from './impact.ts';
import { placeOf, plural, sourceOf, summary, usersOf, usesOf, type Uses } from './places.ts';
import type { Problem } from './problems.ts';

export interface Line {
  rating: Rating;
  /** An operation, a webhook, or a shared component. */
  place: string;
  usedBy: string[];
  what: string;
  /** What an addition is announced by in CHANGELOG.md. */
  names: string[];
  why?: string;
  where: string;
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

export function linesOf(changes: Change[], base: Json, revision: Json, project: string): Line[] {
  const [before, after] = [usesOf(base), usesOf(revision)];
  const shown = changes.filter((change) => !followsFromAddition(change, changes, after));
  return shown.map((change) => {
    const pointer = pointerOf(change);
    return {
      ...rate(change),
      place: placeOf(pointer),
      names: namesOf(change),
      usedBy: usersOf(pointer, change.kind === 'removed' ? before : after),
      what: describe(change),
      where: sourceOf(atKeyword(change, pointer), project),
    };
  });
}

/** A component is new because of what uses it, and a new property of a response may be required from the start. */
function followsFromAddition(change: Change, all: Change[], uses: Uses): boolean {
  const pointer = pointerOf(change);
  if (change.kind === 'added' && component(pointer) === pointer) return usersOf(pointer, uses).length > 0;
  if (change.typeName !== 'Schema' || change.property !== 'required' || rate(change).rating === 'breaking')
    return false;
  const properties = `${pointer.replace(/\/required$/, '')}/properties`;
  const isNew = (name: unknown) =>
    all.some((one) => one.kind === 'added' && pointerOf(one) === step(properties, String(name)));
  return lost(change).length === 0 && gained(change).length > 0 && gained(change).every(isNew);
}

const kinds = [
  { kind: 'breaking', title: 'Breaking', mark: '✖', colour: 'red' },
  { kind: 'addition', title: 'Additions', mark: '+', colour: 'green' },
  { kind: 'other', title: 'Other', mark: '·', colour: 'gray' },
] as const;

const groupsOf = (changes: Line[]) =>
  kinds.map((group) => ({ ...group, lines: changes.filter(({ rating }) => rating === group.kind) }));

/** Such as `1 breaking, 2 additions, 0 other`. */
export function totalOf(changes: Line[]): string {
  const [breaking = 0, additions = 0, other = 0] = groupsOf(changes).map(({ lines }) => lines.length);
  return `${breaking} breaking, ${plural(additions, 'addition')}, ${other} other`;
}

export function asJson(outcome: Outcome, released: boolean): string {
  const counts = Object.fromEntries(
    groupsOf(outcome.changes).map(({ title, lines }) => [title.toLowerCase(), lines.length]),
  );
  return JSON.stringify({ ok: outcome.problems.length === 0, released, counts, ...outcome }, null, 2);
}

export function asText(outcome: Outcome, colour: boolean): string {
  const { base, baseVersion, version, releasedVersion = baseVersion, changes, problems } = outcome;
  const paint = (style: Parameters<typeof styleText>[0], text: string) =>
    // Whether the screen has colours was asked before; newer versions of Node would ask again.
    colour ? styleText(style, text, { validateStream: false }) : text;
  if (changes.length === 0 && problems.length === 0) {
    const bump = version === baseVersion ? '' : `; info.version changes from ${baseVersion} to ${version}`;
    return `${paint('green', '✓')} No change of the contract since ${base}${bump}`;
  }
  const groups = groupsOf(changes).filter(({ lines }) => lines.length > 0);
  const blocks = groups.map(({ title, mark, colour: style, lines }) => {
    const rows = lines.map(({ place, usedBy, what, why, where }) => {
      const head = `  ${paint(style, mark)} ${paint('bold', place)}${usedBy.length === 0 ? '' : ` (${summary(usedBy)})`}`;
      return `${head}: ${what}${why === undefined ? '' : `: ${why}`}\n      ${paint('gray', where)}`;
    });
    return `${paint([style, 'bold'], title)} (${lines.length})\n${rows.join('\n')}`;
  });
  const fine = `${paint('green', '✓')} ${version} and CHANGELOG.md announce what changed since ${releasedVersion}`;
  return [
    `Contract ${baseVersion} (${base}) → ${version} (openapi/)`,
    ...blocks,
    totalOf(changes),
    ...(problems.length > 0 ? problems.map(({ message }) => `${paint('red', '✖')} ${message}`) : [fine]),
  ].join('\n\n');
}
