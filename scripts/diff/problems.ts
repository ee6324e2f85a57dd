// The release rules: info.version and CHANGELOG.md must announce every change, according to its rating.
import { announces, codeSpans, proposedLine } from './announce.ts';
import type { Rating } from './impact.ts';

export interface Evidence {
  changes: { rating: Rating; place: string; what: string; names: string[] }[];
  baseVersion: string;
  version: string;
  /** The text of CHANGELOG.md; empty if the file does not exist. */
  changelog: string;
}

export interface Problem {
  rule: 'version' | 'changelog';
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

export function findProblems({ changes, baseVersion, version, changelog }: Evidence): Problem[] {
  if (changes.length === 0 && version === baseVersion) return [];
  const before = parseVersion(baseVersion);
  const after = parseVersion(version);
  if (!before || !after) {
    const wrong = before ? version : baseVersion;
    return [
      { rule: 'version', message: `info.version is ${wrong}. Write it as MAJOR.MINOR.PATCH, such as 1.2.0.` },
    ];
  }
  const worst =
    (['breaking', 'addition'] as const).find((rating) => changes.some((one) => one.rating === rating)) ??
    'other';
  const next = bumped(before, worst);
  const problems: Problem[] = [];
  const isEnough = compareVersions(after, next) >= 0;
  if (!isEnough) {
    const [claim, otherwise] = needs[worst];
    const now = version === baseVersion ? `still ${version}` : `${version}, after ${baseVersion}`;
    problems.push({
      rule: 'version',
      message: `${claim}, but info.version is ${now}. Set it to ${next.join('.')} in openapi/openapi.yaml, ${otherwise}.`,
    });
  }
  const message = changelogFault(changes, isEnough ? version : next.join('.'), changelog);
  return message === undefined ? problems : [...problems, { rule: 'changelog', message }];
}

/** Placeholder, which the author replaces. */
const toDo = 'What to do about it.';

function changelogFault(
  changes: Evidence['changes'],
  version: string,
  changelog: string,
): string | undefined {
  const section = changelog.split(/^## /m).find((text) => text.split(/\s/, 1)[0] === version);
  const contract = section?.split(/^### /m).find((text) => /^Contract\s*\n/.test(text));
  const lines = [...(contract ?? '').matchAll(/^[-*] +(\S.*)$/gm)].map(([, line = '']) => line);
  const unwritten = lines.find((line) => line.includes(toDo));
  if (unwritten !== undefined)
    return `CHANGELOG.md of ${version} still says "${toDo}" Replace that sentence, or remove it if there is nothing to do:\n\n  - ${unwritten}`;
  const breaking = lines.some((line) => line.startsWith('**Breaking**')) ? [] : breakingLines(changes);
  const spans = codeSpans(contract ?? '');
  const isMissing = (name: string) => !announces(spans, name);
  const additions = changes.filter(({ rating, names }) => rating === 'addition' && names.some(isMissing));
  const unnamed = [...new Set(additions.flatMap(({ names }) => names).filter(isMissing))];
  const missing = [...breaking, ...additions.map(proposedLine)];
  if (missing.length === 0 && lines.length > 0) return undefined;
  return [
    `CHANGELOG.md does not say what ${version} changes${unnamed.length > 0 ? `: no code span names ${unnamed.join(', ')}` : ''}. Add this ${section === undefined ? 'at the top' : `to its section`}, written for consumers, with the names in code spans:\n`,
    ...(section === undefined ? [`  ## ${version} — YYYY-MM-DD\n`] : []),
    ...(contract === undefined ? ['  ### Contract\n'] : []),
    ...(missing.length > 0 ? missing : [`What changed. ${toDo}`]).map((line) => `  - ${line}`),
  ].join('\n');
}

const breakingLines = (changes: Evidence['changes']): string[] =>
  changes
    .filter(({ rating }) => rating === 'breaking')
    .map(({ place, what }) => `**Breaking** \`${place}\`: ${what}. ${toDo}`);

function parseVersion(version: string): Version | undefined {
  const [, major, minor, patch] = /^(\d+)\.(\d+)\.(\d+)$/.exec(version) ?? [];
  return major === undefined ? undefined : [Number(major), Number(minor), Number(patch)];
}

function bumped([major, minor, patch]: Version, rating: Rating): Version {
  if (rating === 'breaking') return [major + 1, 0, 0];
  return rating === 'addition' ? [major, minor + 1, 0] : [major, minor, patch + 1];
}

const compareVersions = (a: Version, b: Version) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2];
