// The release rules: info.version and CHANGELOG.md must announce every change, according to its rating.
import { announces, codeSpans, proposedLine, type Announced } from './announce.ts';
import type { Rating } from './impact.ts';

export interface Evidence {
  /** With the place and what happened there, additions are written into the proposed section of the changelog. */
  changes: ({ rating: Rating } & Partial<Announced>)[];
  baseVersion: string;
  version: string;
  /** The text of CHANGELOG.md; empty if the file does not exist. */
  changelog: string;
}

export interface Problem {
  rule: 'version' | 'changelog' | 'accepted';
  message: string;
}

type Version = [major: number, minor: number, patch: number];

const needs = {
  breaking: ['Breaking changes need a new major version', 'or revert the changes listed under Breaking'],
  addition: ['Additions need at least a new minor version', 'or revert them'],
  other: [
    'Every change, even of a description or an example, needs at least a new patch version',
    'or revert it',
  ],
} as const;

export function judge({ changes, baseVersion, version, changelog }: Evidence): Problem[] {
  if (changes.length === 0 && version === baseVersion) return [];
  const before = parseVersion(baseVersion);
  const after = parseVersion(version);
  if (!before || !after) {
    const wrong = before ? version : baseVersion;
    return [
      { rule: 'version', message: `info.version is ${wrong}. Write it as MAJOR.MINOR.PATCH, such as 1.2.0.` },
    ];
  }
  const problems: Problem[] = [];
  const worst =
    (['breaking', 'addition', 'other'] as const).find((rating) => count(changes, rating) > 0) ?? 'other';
  const next = bumped(before, worst);
  const enough = compareVersions(after, next) >= 0;
  if (!enough) {
    const [claim, otherwise] = needs[worst];
    const now = version === baseVersion ? `still ${version}` : `${version}, after ${baseVersion}`;
    problems.push({
      rule: 'version',
      message: `${claim}, but info.version is ${now}. Set it to ${next.join('.')} in openapi/openapi.yaml, ${otherwise}.`,
    });
  }
  const announced = enough ? version : next.join('.');
  const message = changelogFault(changes, worst, announced, changelog);
  return message === undefined ? problems : [...problems, { rule: 'changelog', message }];
}

function changelogFault(
  changes: Evidence['changes'],
  worst: Rating,
  version: string,
  changelog: string,
): string | undefined {
  const section = sectionOf(changelog, version);
  const contract = section === undefined ? undefined : contractOf(section);
  const lines = [...(contract ?? '').matchAll(/^[-*] +(\S.*)$/gm)].map(([, line = '']) => line);
  const toAdd = (items: string[]) => items.map((item) => `\n  - ${item}`).join('');
  if (lines.length === 0) {
    const where = section === undefined ? 'at the top' : `to the section of ${version} that is there`;
    const headings = [
      ...(section === undefined ? [`\n\n  ## ${version} — YYYY-MM-DD`] : []),
      ...(contract === undefined ? ['\n\n  ### Contract'] : []),
    ];
    return (
      `CHANGELOG.md says nothing about the contract of ${version}. Add this ${where}, written for consumers:` +
      `${headings.join('')}\n${toAdd(proposedLines(changes, worst))}`
    );
  }
  const unwritten = lines.find((line) => line.includes(toDo));
  if (unwritten !== undefined)
    return (
      `CHANGELOG.md of ${version} still says "${toDo}" Replace that sentence, or remove it if there is nothing to do:\n` +
      toAdd([unwritten])
    );
  if (worst === 'breaking' && !lines.some((line) => line.startsWith('**Breaking**')))
    return (
      `CHANGELOG.md does not mark the breaking change of ${version}. Begin the line that consumers must act on ` +
      `like this:\n${toAdd([`**Breaking** ${toTell}`])}`
    );
  const spans = codeSpans(contract ?? '');
  const missing = additionsOf(changes).filter(
    ({ names = [] }) => !names.every((name) => announces(spans, name)),
  );
  if (missing.length === 0) return undefined;
  return (
    `CHANGELOG.md does not name what ${version} adds. Add this below "### Contract" of its section, ` +
    `written for consumers, with the names in code spans:\n${toAdd(missing.map(proposedLine))}`
  );
}

/** A start: what breaks, then what was added, in code spans, by which the additions are recognized later. */
function proposedLines(changes: Evidence['changes'], worst: Rating): string[] {
  const additions = additionsOf(changes).map(proposedLine);
  if (worst === 'breaking') return [...breakingLines(changes), ...additions];
  return worst === 'addition' && additions.length > 0 ? additions : [toTell, ...additions];
}

/** Placeholders, which the author replaces. */
const toDo = 'What to do about it.';
const toTell = `What changed. ${toDo}`;

const breakingLines = (changes: Evidence['changes']): string[] =>
  changes
    .filter(({ rating }) => rating === 'breaking')
    .map(({ place, what }) =>
      place === undefined || what === undefined
        ? `**Breaking** ${toTell}`
        : `**Breaking** \`${place}\`: ${what}. ${toDo}`,
    );

const additionsOf = (changes: Evidence['changes']): Announced[] =>
  changes.flatMap(({ rating, place, what, names = [], summaries = [] }) =>
    rating === 'addition' && place !== undefined && what !== undefined
      ? { place, what, names, summaries }
      : [],
  );

export const count = (changes: { rating: Rating }[], rating: Rating) =>
  changes.filter((change) => change.rating === rating).length;

const sectionOf = (changelog: string, version: string) =>
  changelog.split(/^## /m).find((text) => text.split(/\s/, 1)[0] === version);

/** What is below `### Contract` in a section. */
const contractOf = (section: string) => section.split(/^### /m).find((text) => /^Contract\s*\n/.test(text));

export function parseVersion(version: string): Version | undefined {
  const [, major, minor, patch] = /^(\d+)\.(\d+)\.(\d+)$/.exec(version) ?? [];
  return major === undefined ? undefined : [Number(major), Number(minor), Number(patch)];
}

function bumped([major, minor, patch]: Version, rating: Rating): Version {
  if (rating === 'breaking') return [major + 1, 0, 0];
  return rating === 'addition' ? [major, minor + 1, 0] : [major, minor, patch + 1];
}

export const compareVersions = (a: Version, b: Version) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2];
